"""States of frozen networks, against the networks' own."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import layer_norm

from voicenym.errors import VoicenymError
from voicenym.nets.content import content_encoders
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.speakers.frozen_layers import STATE, frozen_layers, is_here
from voicenym.nets.words.whisper.whisper import KINDS


@pytest.fixture
def sound():
    return 0.1 * torch.randn(2, 40 * STATE, generator=torch.Generator().manual_seed(1))


def test_the_last_layer_of_a_whole_window_is_what_whisper_returns(tiny_whisper, sound):
    frozen = frozen_layers("whisper", str(tiny_whisper))
    assert (frozen.count, frozen.width, frozen.most) == (2, 16, 40)
    found = frozen(sound, (0, 2))
    assert found.shape == (2, 2, 40, 16)
    network = KINDS.load(tiny_whisper)  # its last normalisation has gain 1 and offset 0
    with torch.inference_mode():
        torch.testing.assert_close(found[:, 1], network.states(sound))


def test_states_are_normalised_and_long_recordings_go_in_windows(tiny_whisper, sound):
    frozen = frozen_layers("whisper", str(tiny_whisper))
    long = torch.cat([sound, sound[:, : 10 * STATE + 7]], dim=1)
    found = frozen(long, (1, 2))
    assert found.shape[2] == 51, "the last state is padded"
    torch.testing.assert_close(found.mean(3), torch.zeros(2, 2, 51), atol=1e-5, rtol=0)
    torch.testing.assert_close(found.var(3, correction=0), torch.ones(2, 2, 51), atol=1e-2, rtol=0)
    torch.testing.assert_close(found[:, :, :40], frozen(sound, (1, 2)))
    with pytest.raises(VoicenymError, match="no layer 3"):
        frozen(sound, (3,))


def test_hubert_gives_its_hidden_states(tmp_path, sound):
    torch.manual_seed(0)
    network = HubertSoft(
        size=4, units=3, layers=2, width=8, heads=2, inner=8, channels=8, kernel=4, groups=2
    )
    content_encoders.save(network, tmp_path / "hubert")
    frozen = frozen_layers("hubert-soft", str(tmp_path / "hubert"))
    assert (frozen.count, frozen.width) == (2, 8)
    found = frozen(sound, (0, 1, 2))
    with torch.inference_mode():
        for layer in (0, 1, 2):
            wanted = network.eval().hidden(sound, layer=layer)
            torch.testing.assert_close(found[:, layer], layer_norm(wanted, (8,)))


def test_weights_that_are_not_here_are_named(tmp_path):
    assert not is_here("whisper", "whisper-tiny.en")
    assert is_here("whisper", str(tmp_path))
    assert not is_here("parrot", str(tmp_path))
    with pytest.raises(VoicenymError, match=r"models pull whisper-tiny\.en"):
        frozen_layers("whisper", "whisper-tiny.en")
    with pytest.raises(VoicenymError, match="choose from whisper, wav2vec2"):
        frozen_layers("parrot", str(tmp_path))
