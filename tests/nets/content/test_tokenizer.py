"""One codebook over frames of features."""

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content.tokenizer import Tokenizer
from voicenym.nets.content.units import Units

OPTIONS = {"width": 8, "units": 1, "entries": 6, "code": 4}


def small(seed: int = 0) -> Tokenizer:
    torch.manual_seed(seed)
    return Tokenizer(5, **OPTIONS, source={"features": "cepstra"}).eval()


def test_every_frame_has_a_token_whatever_its_scale():
    tokenizer, frames = small(), torch.randn(30, 5)
    tokens = tokenizer(frames)
    assert tokens.shape == (30,)
    assert 0 <= int(tokens.min()) <= int(tokens.max()) < len(tokenizer) == 6
    tokenizer.learn_statistics(frames)
    other = small()
    other.learn_statistics(100.0 * frames + 7.0)
    assert torch.equal(tokenizer(frames), other(100.0 * frames + 7.0))
    assert tokenizer(frames[:0]).shape == (0,)


def test_a_token_is_what_goes_through_the_codebook():
    tokenizer, frames = small(), torch.randn(1, 30, 5)
    given = tokenizer.through(tokenizer.normalised(frames))
    assert torch.equal(given.tokens[0], tokenizer(frames[0]))
    assert given.rebuilt.shape == frames.shape
    assert 1.0 <= float(given.perplexity) <= 6.0


def test_it_is_kept_with_what_it_is_of(tmp_path):
    tokenizer, frames = small(), torch.randn(30, 5)
    tokenizer.save(tmp_path / "kept", {"data": "made"})
    again = Tokenizer.load(tmp_path / "kept")
    assert again.source == {"features": "cepstra"}
    assert torch.equal(again(frames), tokenizer(frames))
    Units(torch.randn(6, 5)).save(tmp_path / "units")
    with pytest.raises(VoicenymError, match="train tokenizer"):
        Tokenizer.load(tmp_path / "units")
    with pytest.raises(ValueError, match="odd"):
        Tokenizer(5, kernel=4)
