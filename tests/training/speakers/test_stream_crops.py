"""Files of a two-branch encoder's inputs, and crops of them that are stretched and warped."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.dsp.features.fbank import RATE, htk, htk_inverse
from voicenym.errors import CorpusError
from voicenym.nets.speakers.two_branch import TwoBranch
from voicenym.training.speakers.stream_crops import (
    StreamChanges,
    StreamCrops,
    stretched,
    warped,
)
from voicenym.training.speakers.stream_files import StreamFiles
from voicenym.training.speech.augmentation import SpecAugment


@pytest.fixture(scope="module")
def encoder(tiny_whisper):
    return TwoBranch(
        place=str(tiny_whisper), layers=(0, 2), width=16, channels=8, second=8, size=8
    ).eval()


@pytest.fixture(scope="module")
def files(encoder, shelved, tmp_path_factory):
    return StreamFiles(tmp_path_factory.mktemp("streams"), encoder).fill(shelved[:12])


def test_a_file_holds_both_inputs_in_half_precision(encoder, files, shelved):
    fbank, states = files[0].read()
    wanted = encoder.streams(torch.from_numpy(shelved[0].samples())[None])
    frames = wanted[0].shape[1]
    assert files[0].length == states.shape[0] == -(-frames // 2)
    np.testing.assert_allclose(fbank[:frames], wanted[0][0].numpy(), atol=0.05)
    np.testing.assert_allclose(states.swapaxes(0, 1), wanted[1][0].numpy(), atol=2e-3)
    part, some = files[0].read(3, 5)
    np.testing.assert_array_equal(part, fbank[6:16])
    np.testing.assert_array_equal(some, states[3:8])
    assert files[0].path.stat().st_mode & 0o077 == 0, "as private as speech"


def test_cache_clear_removes_them(encoder, shelved, tmp_path, command):
    (file,) = StreamFiles(tmp_path / "features", encoder).fill(shelved[:1])
    assert command("cache", "clear", tmp_path / "features").returncode == 0
    assert not file.path.exists()


def test_what_is_there_is_not_computed_again(encoder, files, shelved, monkeypatch):
    monkeypatch.setattr(TwoBranch, "streams", None)
    again = StreamFiles(files[0].path.parent, encoder).fill(shelved[:12])
    assert again == files


def test_crops_are_the_same_in_every_run_and_others_in_every_epoch(files):
    crops = StreamCrops(files, 0.4, 30)
    fbank, states, _ = crops[3]
    assert (fbank.shape, states.shape) == ((40, 80), (2, 20, 16))
    assert fbank.dtype == torch.float32
    again = StreamCrops(files, 0.4, 30)[3]
    torch.testing.assert_close(again[0], fbank)
    torch.testing.assert_close(again[1], states)
    assert {crops[i][2] for i in range(30)} == {0, 1} == set(range(crops.classes))
    crops.advance(1)
    assert not torch.equal(crops[3][0], fbank)
    with pytest.raises(CorpusError, match="needs two at least"):
        StreamCrops(files[:6], 0.4, 30)
    long = StreamCrops(files, 3.0, 4)[0]
    assert long[1].shape == (2, 150, 16), "a shorter recording is repeated"


def test_a_line_stays_a_line_when_it_is_stretched():
    line = np.stack([np.arange(9.0), 3.0 - np.arange(9.0)], axis=1).astype(np.float32)
    found = stretched(line, 17)
    np.testing.assert_allclose(found[:, 0], np.arange(17) / 2)
    np.testing.assert_allclose(found[:, 1], 3.0 - np.arange(17) / 2)
    assert stretched(line, 9) is line


def test_a_warp_moves_a_peak_by_the_scale():
    step = htk(RATE / 2) / 81
    hertz = htk_inverse(torch.arange(1, 81) * step)
    peak = torch.exp(-(((hertz - 1_500.0) / 200.0) ** 2))[None, None].repeat(3, 4, 1)
    found = warped(peak, torch.tensor([1.0, 1.2, 0.8]))
    torch.testing.assert_close(found[0], peak[0], atol=1e-4, rtol=0)
    for row, wanted in ((1, 1_800.0), (2, 1_200.0)):
        assert hertz[found[row, 0].argmax()].item() == pytest.approx(wanted, rel=0.04)


def test_changes_happen_with_their_probability():
    fbank, states = torch.randn(64, 20, 80) * 5.0, torch.ones(64, 2, 10, 4)

    def changed(**settings):
        none = {"warp": 0.0, "noise": 0.0, "alone": 0.0, "blanks": SpecAugment(0, 0)}
        changes = StreamChanges(**{**none, **settings})
        return changes(fbank, states, torch.Generator().manual_seed(5))

    same = changed()
    torch.testing.assert_close(same[0], fbank, atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(same[1], states)
    first, again = changed(alone=0.5, noise=0.5, warp=0.5), changed(alone=0.5, noise=0.5, warp=0.5)
    torch.testing.assert_close(first[0], again[0])
    silent = (first[1].flatten(1) == 0).all(1).float().mean().item()
    assert 0.25 < silent < 0.75
    noisy = changed(noise=1.0)[0]
    assert (noisy >= fbank - 1e-3).all(), "noise adds power"
    blanked = changed(blanks=SpecAugment(0, 1, 8, 8))[1]
    assert 0.0 < (blanked == 0).float().mean().item() < 0.4
