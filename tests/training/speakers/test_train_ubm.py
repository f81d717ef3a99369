"""Training of background models."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read
from voicenym.nets.statistics.background_model import Background
from voicenym.training.speakers.row_file import RowFile
from voicenym.training.speakers.train_ubm import (
    BackgroundConfig,
    collect_frames,
    components_for,
    full_for,
    train,
)

CEPSTRA = Cepstra(coefficients=5, bands=15, slopes=1)


class Silence:
    speaker = "nobody"

    def samples(self) -> np.ndarray:
        return np.zeros(16_000, dtype=np.float32)


def test_sizes_follow_the_data():
    assert components_for(0) == 1
    assert components_for(1_090_000) == 64  # three hours of speech
    assert components_for(60_000_000) == 2_048  # 100,000 recordings of 6 s
    assert components_for(10**12) == 2_048
    counts = [components_for(frames) for frames in range(0, 3_000_000, 10_000)]
    assert counts == sorted(counts)
    assert set(counts) == {1 << i for i in range(9)}
    assert full_for(60_000_000, 2_048, 72)
    assert not full_for(20_000, 64, 72)


def test_trains_and_saves_the_same_every_time(corpus, tmp_path):
    messages = []
    config = BackgroundConfig(CEPSTRA, components=4, covariances="full")
    found = train(corpus, tmp_path, config, messages.append)
    assert found.mixture.components == 4
    assert found.mixture.full
    assert sorted(p.name for p in tmp_path.iterdir()) == ["config.json", "model.safetensors"]
    signal = torch.from_numpy(corpus[0].samples())
    loaded = Background.of(*read(tmp_path))
    torch.testing.assert_close(loaded.statistics([signal]), found.statistics([signal]))
    assert any("24 recordings" in text for text in messages)
    assert torch.equal(train(corpus, tmp_path, config).mixture.means, found.mixture.means)


def test_silent_recordings_are_left_out_and_reported(corpus, tmp_path):
    messages = []
    with RowFile(tmp_path, CEPSTRA.dimension) as frames:
        received = collect_frames([*corpus[3:5], Silence()], CEPSTRA, frames, messages.append)
        assert [one.speaker for one in received] == ["s0", "s1"]
        assert received[0].stop == received[1].start
        assert received[1].stop == frames.count
        expected = CEPSTRA(torch.from_numpy(corpus[4].samples()))
        torch.testing.assert_close(frames.rows(received[1].start, received[1].stop), expected)
    assert "1 recording holds less than 0.3 s" in messages[-1]


@pytest.mark.slow
def test_workers_hear_the_same(corpus, tmp_path):
    piles = []
    for workers in (1, 2):
        with RowFile(tmp_path, CEPSTRA.dimension) as frames:
            collect_frames(corpus[:4], CEPSTRA, frames, str, workers)
            piles.append(frames.rows())
    torch.testing.assert_close(piles[0], piles[1])


def test_says_what_is_wrong(corpus, tmp_path):
    with pytest.raises(VoicenymError, match="no speech in any of the 2"):
        train([Silence(), Silence()], tmp_path, BackgroundConfig(CEPSTRA))
    with pytest.raises(VoicenymError, match="64 components need 128 frames"):
        train(corpus[:1], tmp_path, BackgroundConfig(CEPSTRA, components=64))
    with pytest.raises(VoicenymError, match="full or diagonal"):
        BackgroundConfig(covariances="round")
    with pytest.raises(VoicenymError, match="floor"):
        BackgroundConfig(floor=2.0)
