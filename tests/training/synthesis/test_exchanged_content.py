"""A trained synthesizer under another content encoder."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.synthesizers import make
from voicenym.training.synthesis.exchanged_content import fit_content, with_content

OPTIONS = {
    "istft-vocoder": {"width": 24, "inner": 32, "blocks": 1, "speaker_width": 8},
    "hifigan-nsf": {"size": {"rates": (8, 5, 4), "channels": 32}, "width": 8},
    "acoustic-nsf": {"mels": 20, "width": 16, "channels": 8, "blocks": 1, "convolutions": 2},
    "acoustic-nsf-folded": {
        "mels": 20,
        "width": 16,
        "vocoder": {"channels": 8, "blocks": 1, "convolutions": 2, "width": 8},
    },
    "acoustic-istft": {
        "mels": 20,
        "width": 16,
        "vocoder": {"width": 24, "inner": 32, "blocks": 1, "speaker_width": 8},
    },
    "convnext-hifigan": {
        "frames": {"width": 24, "inner": 32, "blocks": 1, "speaker_width": 8},
        "vocoder": {"size": {"rates": (8, 5, 4), "channels": 16}},
    },
}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("size", [3, 9])
def test_without_content_both_networks_say_the_same(kind, size):
    """Frames of zeros contribute nothing, so that all other weights must be the former ones."""
    torch.manual_seed(0)
    former = make(kind, {**OPTIONS[kind], "content": 5, "speaker": 4}).eval()
    found = with_content(former, size, 1)
    assert found.config() == {**former.config(), "content": size}
    f0, speaker = torch.full((1, 30), 120.0), torch.randn(1, 4)
    with torch.inference_mode():
        said = [net(torch.zeros(1, 30, n), f0, speaker) for net, n in ((former, 5), (found, size))]
        other = found(torch.ones(1, 30, size), f0, speaker)
    torch.testing.assert_close(said[0], said[1])
    assert not torch.equal(other, said[1])  # and the new content is read
    assert with_content(former, 5, 1) is former


@pytest.mark.parametrize("kind", OPTIONS)
def test_content_that_is_a_linear_function_of_the_former_is_fitted_exactly(kind):
    torch.manual_seed(0)
    former = make(kind, {**OPTIONS[kind], "content": 5, "speaker": 4}).eval()
    found = with_content(former, 9, 1)
    matrix, offset = torch.randn(5, 9), torch.randn(9)
    some = [torch.randn(400, 5) for _ in range(5)]
    share = fit_content(found, former, [(x @ matrix + offset, x) for x in some])
    assert share == pytest.approx(1.0, abs=0.01)
    frames = torch.randn(1, 30, 5)
    f0, speaker = torch.full((1, 30), 120.0), torch.randn(1, 4)
    with torch.inference_mode():
        wanted = former(frames, f0, speaker)
        said = found(frames @ matrix + offset, f0, speaker)
        zeros = former(torch.zeros_like(frames), f0, speaker)
    # the first and last frames see padding, which is zeros and not the offset
    middle = slice(15 * former.hop, 15 * former.hop + 320)
    if not kind.startswith("acoustic"):  # whose recurrent layers hear the ends everywhere
        error = float((said - wanted)[:, middle].norm())
        assert error < 0.2 * float((zeros - wanted)[:, middle].norm())
    # of content that says nothing of the former, nothing is explained
    share = fit_content(found, former, [(torch.randn(400, 9), x) for x in some])
    assert share < 0.2
    with pytest.raises(VoicenymError, match="no frames"):
        fit_content(found, former, [])
    with pytest.raises(VoicenymError, match="the same content"):
        fit_content(former, former, [])
