"""Codes of words: shapes, lengths, and what lies behind the speech."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content import content_encoders, word_code_bottleneck
from voicenym.nets.content.word_code_bottleneck import WordCodes, sinusoids
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

TINY = {
    "states": 12, "window": 60, "width": 16, "inner": 24, "kernel": 5, "before": 1, "after": 2,
    "code": 6, "entries": 9,
}  # fmt: skip


@pytest.fixture(
    scope="module",
    params=[(1, 1, False), (2, 1, False), (2, 2, False), (4, 1, False), (2, 1, True)],
)
def codes(request):
    every, books, normalised = request.param
    torch.manual_seed(0)
    made = WordCodes(**TINY, every=every, books=books, normalised=normalised)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.2 * torch.randn(value.shape))
    made.train()
    made(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    return made.eval()


def test_a_row_depends_on_nothing_behind_its_end(codes):
    states, lengths = torch.randn(3, 47, 12), torch.tensor([47, 20, 1])
    with torch.inference_mode():
        together = codes(states, lengths)
        for row, length in enumerate(lengths.tolist()):
            alone = codes(states[row : row + 1, :length], lengths[row : row + 1])
            count = -(-length // codes.sizes.every)
            assert torch.equal(alone.codes[0], together.codes[row, :count])
            known = alone.states.shape[1]
            torch.testing.assert_close(alone.states[0], together.states[row, :known])
            blank = codes.blank()[0, known : together.states.shape[1]]
            torch.testing.assert_close(together.states[row, known:], blank)


def test_vectors_of_some_codes_are_those_of_all(codes):
    every = codes.sizes.every
    states = torch.randn(2, 12 * every, 12)
    if codes.sizes.normalised:
        with pytest.raises(ValueError, match="by whole recordings"):
            codes.encoded_codes(states, slice(0, 2))
        return
    with torch.inference_mode():
        whole = codes.encoded(states, torch.tensor([12 * every] * 2))
        for first, end in ((0, 12), (0, 1), (5, 7), (11, 12), (4, 4)):
            found = codes.encoded_codes(states, slice(first, end))
            torch.testing.assert_close(found, whole[:, first:end], rtol=1e-5, atol=1e-5)


def test_codes_alone_give_the_states_of_a_whole_window(codes):
    states, every = torch.randn(1, 33, 12), codes.sizes.every
    with torch.inference_mode():
        through = codes(states, torch.tensor([33]))
        found = codes.codes(states[0])
        window = codes.decoded(found)
    assert found.shape == (-(-33 // every), codes.sizes.books)
    assert torch.equal(found, through.codes[0])
    assert window.shape == (60, 12)
    torch.testing.assert_close(window[: through.states.shape[1]], through.states[0])
    assert codes.rate == 50 / every


def test_normalised_codes_are_those_of_a_shifted_and_scaled_voice():
    torch.manual_seed(0)
    codes = WordCodes(**TINY, normalised=True).train()
    states = torch.randn(1, 50, 12)
    codes(states, torch.tensor([50]))
    # a layer norm precedes: it is left out, because it mixes the elements of a state
    codes.eval().norm = torch.nn.Identity()
    moved = 1.7 * states[0] + torch.randn(12)
    assert torch.equal(codes.codes(moved), codes.codes(states[0]))
    assert len(codes.codes(states[0]).unique()) > 1


def test_a_full_window_and_none_at_all(codes):
    with torch.inference_mode():
        full = codes.codes(torch.randn(60, 12))
        assert codes.decoded(full).shape == (60, 12)
        none = codes.codes(torch.randn(0, 12))
        torch.testing.assert_close(codes.decoded(none), codes.blank()[0])
        with pytest.raises(ValueError, match="longer than a window"):
            codes.decoded(torch.zeros(61, codes.sizes.books, dtype=torch.int64))


def test_gradients_pass_the_books_and_reach_every_weight():
    torch.manual_seed(0)
    made = WordCodes(**TINY).train()
    assert not made.initialised
    free = made(torch.randn(2, 30, 12), torch.tensor([30, 11]), quantised=False)
    assert free.codes is None
    assert not made.initialised
    given = made(torch.randn(2, 30, 12), torch.tensor([30, 11]))
    (given.states.square().mean() + given.commitment).backward()
    assert made.initialised
    assert all(p.grad is not None and bool(p.grad.abs().sum()) for p in made.parameters())
    assert 1.0 <= float(given.perplexity) <= 9.0


def test_positions_are_whispers():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.models.whisper.modeling_whisper.sinusoids(50, 16)
    torch.testing.assert_close(sinusoids(50, 16), theirs)


def test_they_are_kept_with_their_books(codes, tmp_path):
    pytest.importorskip("safetensors")
    word_code_bottleneck.save(codes, tmp_path, {"data": "none"})
    again = word_code_bottleneck.load(tmp_path)
    assert again.initialised
    assert again.config() == codes.config()
    states = torch.randn(21, 12)
    assert torch.equal(again.codes(states), codes.codes(states))


def test_they_are_read_from_a_content_encoder_that_holds_them(codes, tmp_path):
    pytest.importorskip("safetensors")
    sizes = codes.sizes
    whisper = {"width": sizes.states, "states": sizes.window, "heads": 2, "layers": 1, "bands": 8}
    content = WordCodeContent({**whisper, "decoder_layers": 0}, codes.config())
    content.codes.load_state_dict(codes.state_dict())
    content_encoders.save(content, tmp_path)
    states = torch.randn(21, 12)
    assert torch.equal(word_code_bottleneck.load(tmp_path).codes(states), codes.codes(states))


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(VoicenymError, match="every divides the window"):
        WordCodes(**{**TINY, "every": 7})
    with pytest.raises(VoicenymError, match="no size 'depth'"):
        WordCodes(**TINY, depth=3)
