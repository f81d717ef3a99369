"""Whisper network: equal to transformers', and token by token equal to all at once."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.words.whisper.whisper import STATE, Whisper, Writing

TINY = {
    "width": 64, "heads": 2, "layers": 2, "states": 20, "tokens": 40, "positions": 12,
}  # fmt: skip
HOW = Writing(begin=(30, 31), end=29, words=29, never=(3,), not_first=(5, 29))


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(1)
    made = Whisper(**TINY)
    with torch.no_grad():
        for value in made.parameters():
            value.copy_(0.3 * torch.randn(value.shape))
    return made.eval()


def test_shorter_speech_has_zeros_behind(network):
    noise = 0.1 * torch.randn(2, 11 * STATE)
    with torch.inference_mode():
        found = network.states(noise)
        padded = torch.nn.functional.pad(noise, (0, 30 * STATE))
        torch.testing.assert_close(network.states(padded), found)
    assert found.shape == (2, 20, 64)


def test_the_first_states_are_computed_alone_as_with_all(network):
    queries = []
    network.encoder.layers[-1].widen.register_forward_hook(lambda _, x, y: queries.append(y.shape))
    with torch.inference_mode():
        spectra = network.encoder.spectra(0.1 * torch.randn(2, 11 * STATE))
        whole = network.encoder(spectra)
        first = network.encoder(spectra, 11)
    torch.testing.assert_close(first, whole[:, :11], rtol=0, atol=1e-6)
    assert [shape[1] for shape in queries] == [20, 11]


def test_spectra_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    theirs = transformers.WhisperFeatureExtractor()
    samples = 0.1 * torch.randn(40_000, generator=torch.Generator().manual_seed(0))
    wanted = theirs(samples.numpy(), sampling_rate=16_000, return_tensors="pt").input_features
    found = Whisper(width=64, heads=1, layers=1, tokens=4).encoder.spectra(samples[None])
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_word_by_word_is_as_at_once(network):
    states = torch.randn(3, 20, 64)
    tokens = torch.randint(29, (3, 8))
    with torch.inference_mode():
        received = network.decoder.cross_keys_values(states)
        whole = network.decoder(tokens, received)
        pasts: list = [[], []]
        parts = [network.decoder(tokens[:, :3], received, pasts)]
        parts += [network.decoder(tokens[:, i : i + 1], received, pasts) for i in range(3, 8)]
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-4, rtol=1e-4)


def test_a_text_has_no_marks_and_ends(network):
    written = network.write(torch.randn(6, 20, 64), HOW)
    assert len(written) == 6
    assert all(len(text) <= 10 for text in written)
    assert not {3, *range(29, 40)} & {token for text in written for token in text}
    assert all(text and text[0] != 5 for text in written)


def test_what_is_written_does_not_depend_on_the_company(network):
    states = torch.randn(4, 20, 64)
    together = network.write(states, HOW)
    assert [network.write(one[None], HOW)[0] for one in states] == together


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(Exception, match="heads divide the width"):
        Whisper(width=64, heads=5)
