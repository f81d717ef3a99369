"""Live encoder of word codes: a stream gives what whole recordings give, and looks no further."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import STATE, Whisper
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.nets.words.word_codes.live_code_stream import LiveCodeStream
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes

WHISPER = {"width": 12, "heads": 2, "layers": 2, "bands": 80, "states": 100, "tokens": 30}
HEAD = {"states": 12, "window": 100, "width": 16, "inner": 24, "code": 6, "entries": 9}
SIZES = {"rank": 2, "chunk": 4, "ahead": 6, "past": 20, "left": 8, "period": 32}
CHUNK = SIZES["chunk"] * STATE


@pytest.fixture(scope="module")
def whisper():
    torch.manual_seed(0)
    made = Whisper(**WHISPER)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return made.eval().requires_grad_(False)


@pytest.fixture(scope="module")
def teacher():
    torch.manual_seed(1)
    made = WordCodeEncoder("book", **HEAD)
    return made.with_accents(torch.randn(3, 6), torch.randn(6), 5)


@pytest.fixture(scope="module")
def network(whisper, teacher):
    torch.manual_seed(2)
    made = LiveWordCodes.of(whisper.encoder, whisper.sizes, teacher, **SIZES)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return made.eval()


def noise(samples, seed=3):
    return 0.1 * torch.randn(samples, generator=torch.Generator().manual_seed(seed))


def streamed(network, whisper, teacher, wave):
    encoder, head = network.of_encoder.changed(whisper.encoder), network.of_head.changed(teacher)
    stream = LiveCodeStream(network, encoder, head)
    found = []
    for start in range(0, len(wave), CHUNK):
        end = start + CHUNK + stream.ahead
        last = end > len(wave)
        if last:
            end = min(len(wave), start + CHUNK + SIZES["ahead"] * STATE)
        found.append(stream.step(wave[max(0, start - stream.before) : end], last))
    return found


@pytest.mark.parametrize("chunks", [1, 2, 3, 17])
def test_a_stream_gives_what_the_whole_recording_gives(network, whisper, teacher, chunks):
    wave = noise(chunks * CHUNK)
    wave[: len(wave) // 3] *= 1e-3  # the floor rises later
    with torch.inference_mode():
        whole = network(whisper.encoder, teacher, wave[None])
    found = streamed(network, whisper, teacher, wave)
    own = torch.cat([one.own for one in found])
    torch.testing.assert_close(own, whole.own[0], rtol=1e-4, atol=1e-4)
    for one, wanted in zip(found, whole.ahead[0], strict=True):
        torch.testing.assert_close(one.ahead, wanted[: len(one.ahead)], rtol=1e-4, atol=1e-4)
    lengths = [min(SIZES["ahead"], 4 * after) // 2 for after in reversed(range(chunks))]
    assert [len(one.ahead) for one in found] == lengths


def test_vectors_do_not_depend_on_what_is_further_ahead(network, whisper, teacher):
    wave, other = noise(10 * CHUNK), noise(10 * CHUNK)
    known = 3 * CHUNK + LiveCodeStream(network, whisper.encoder, teacher).ahead
    other[known:] = noise(len(other) - known, seed=4)
    with torch.inference_mode():
        one, two = (network(whisper.encoder, teacher, x[None]).own[0] for x in (wave, other))
    torch.testing.assert_close(one[:6], two[:6])
    assert not torch.allclose(one[6:8], two[6:8])


def test_more_may_be_read_ahead_than_is_usual(network, whisper, teacher):
    wave = noise(6 * CHUNK)[None]
    with torch.inference_mode():
        usual, more = (network(whisper.encoder, teacher, wave, ahead) for ahead in (None, 8))
    assert more.ahead.shape == (1, 6, 4, 6)
    assert not torch.allclose(usual.own, more.own)


def test_positions_repeat_after_their_period(network, whisper, teacher):
    wave = noise(12 * CHUNK)[None]
    with torch.inference_mode():
        one = network(whisper.encoder, teacher, wave, first=5).own
        two = network(whisper.encoder, teacher, wave, first=5 + SIZES["period"]).own
    assert torch.equal(one, two)


def test_a_new_network_changes_nothing(whisper, teacher):
    made = LiveWordCodes.of(whisper.encoder, whisper.sizes, teacher, **SIZES).eval()
    for changes, network in ((made.of_encoder, whisper.encoder), (made.of_head, teacher)):
        changed = changes.changed(network)
        for name, value in network.state_dict().items():
            assert torch.equal(value, changed.state_dict()[name])


def test_a_folder_keeps_it(network, whisper, teacher, tmp_path):
    live_word_codes.save(network, tmp_path / "live")
    again = live_word_codes.load(tmp_path / "live")
    wave = noise(3 * CHUNK)[None]
    with torch.inference_mode():
        found, wanted = (one(whisper.encoder, teacher, wave) for one in (again, network))
    assert torch.equal(found.own, wanted.own)
    fresh = LiveWordCodes.of(whisper.encoder, whisper.sizes, teacher, **SIZES)
    live_word_codes.go_on_from(fresh, tmp_path / "live")
    assert all(map(torch.equal, fresh.parameters(), network.parameters()))
    other = LiveWordCodes.of(whisper.encoder, whisper.sizes, teacher, **{**SIZES, "left": 10})
    with pytest.raises(VoicenymError, match="of other sizes"):
        live_word_codes.go_on_from(other, tmp_path / "live")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"chunk": 3}, "multiples of 2"),
        ({"left": 24}, "past is left or more"),
        ({"rank": 0}, "1 at least"),
        ({"period": 101}, "Whisper has 100"),
        ({"head": {**HEAD, "states": 14}}, "another width"),
        ({"head": {**HEAD, "normalised": True}}, "whole recordings"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(changed, message):
    with pytest.raises((ValueError, VoicenymError), match=message):
        LiveWordCodes(WHISPER, **{"head": HEAD, **SIZES, **changed})
