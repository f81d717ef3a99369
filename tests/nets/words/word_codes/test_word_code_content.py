"""Content encoder of word codes: codebook vectors, lengths, windows, and the folder."""

from __future__ import annotations

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content.content_encoders import load, save
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.word_codes.codes_and_states import codes_and_states
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

WHISPER = {"width": 12, "heads": 2, "layers": 2, "bands": 80, "states": 100, "tokens": 30}
CODES = {"states": 12, "window": 100, "width": 16, "inner": 24, "code": 6, "entries": 9}


@pytest.fixture(scope="module")
def whisper():
    torch.manual_seed(0)
    made = Whisper(**WHISPER)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return made.eval()


@pytest.fixture(scope="module")
def codes():
    torch.manual_seed(1)
    made = WordCodes(**CODES).train()
    made(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    return made.eval()


@pytest.fixture(scope="module")
def content(whisper, codes):
    return WordCodeContent.of(whisper, codes)


def noise(*shape, seed=9):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_frames_are_the_codebook_vectors_of_the_codes(whisper, codes, content):
    wave = noise(1, 32_000)
    with torch.inference_mode():
        found = content(wave)[0]
        numbers = codes.codes(whisper.states(wave)[0])[:, 0]
    assert found.shape == (50, 6)
    book = codes.quantizer.books[0]
    with torch.inference_mode():
        again, vectors = book(found)
    assert torch.equal(again, numbers)
    torch.testing.assert_close(found, vectors)
    assert len(numbers.unique()) > 1


@pytest.fixture
def native(content):
    torch.manual_seed(3)
    made = WordCodeEncoder(**CODES, before=2).eval()
    content.take_native(made)
    yield made
    content._natives.clear()


def test_native_frames_are_the_entries_nearest_to_what_the_other_encoder_gives(
    whisper, codes, content, native
):
    wave = noise(2, 31_000)
    with torch.inference_mode():
        found = content.native(wave)
        states = whisper.states(torch.nn.functional.pad(wave, (0, 360)))[:, :98]
        vectors = native.encoded(states, torch.full((2,), 98))
        numbers = codes.quantizer.books[0].nearest(vectors.flatten(0, 1))
        kept, _ = content.with_language_score(wave)
    assert torch.equal(found.flatten(0, 1), codes.quantizer.books[0].vectors[numbers])
    torch.testing.assert_close(kept, content(wave))
    assert not torch.equal(kept, found)
    with torch.inference_mode():
        assert torch.equal(content.native(wave[1:]), found[1:]), "from the memory"
        assert content.native(wave[:, :0]).shape == (2, 0, 6)
    assert set(content.state_dict()) == set(WordCodeContent.of(whisper, codes).state_dict())


def test_drawn_accents_move_vectors_but_not_silence(whisper, codes, content):
    torch.manual_seed(3)
    plain = WordCodeEncoder(**CODES, before=2).eval()
    wave = noise(2, 32_000)
    book = codes.quantizer.books[0]
    with torch.inference_mode():
        vectors = plain.encoded(whisper.states(wave), torch.full((2,), 100))
        numbers = book.nearest((vectors / 0.1).round().mul(0.1).flatten(0, 1)).view(2, -1)
    silence = int(numbers[0, 7])
    encoder = plain.with_accents(torch.randn(4, 6), vectors.mean((0, 1)), silence)
    try:
        content.take_native(encoder, "drawn")
        with torch.inference_mode():
            assert torch.equal(content.native(wave, "drawn"), book.vectors[numbers])
            accents = encoder.drawn(torch.tensor([[2.0] * 10, [0.0] * 10]))
            found = content.native(wave, "drawn", accents)
            alone = content.native(wave[:1], "drawn", accents.of([0]))
        assert torch.equal(found[1], book.vectors[numbers[1]]), "an accent of zeros is none"
        assert torch.equal(found[:1], alone), "from the memory"
        quiet = numbers[0] == silence
        assert torch.equal(found[0, quiet], book.vectors[numbers[0, quiet]])
        assert not torch.equal(found[0], book.vectors[numbers[0]])
        with pytest.raises(ValueError, match="no directions"):
            plain.drawn(torch.zeros(1, 6))
    finally:
        content._natives.clear()


def test_native_codes_follow_their_own_weights(content, native):
    wave = noise(1, 32_000)
    with torch.inference_mode():
        before = content.native(wave)
        native.narrow.weight.copy_(-native.narrow.weight)
        assert not torch.equal(content.native(wave), before)


def test_an_encoder_that_does_not_fit_and_one_that_is_missing_are_named(content):
    with pytest.raises(VoicenymError, match="gives 5 numbers from 2 states of 12"):
        content.take_native(WordCodeEncoder(**{**CODES, "code": 5}))
    with pytest.raises(VoicenymError, match="another codebook"):
        content.take_native(WordCodeEncoder("0123456789abcdef", **CODES))
    content.take_native(WordCodeEncoder(content.codes.codebook_digest(), **CODES))
    content._natives.clear()
    with pytest.raises(VoicenymError, match="does not have"):
        content.take_native(Whisper(**WHISPER))
    with pytest.raises(VoicenymError, match="accent=kept"):
        content.native(noise(1, 3200))


def test_codes_are_those_of_the_states_of_a_short_window(whisper, codes, content):
    wave = noise(1, 32_000)  # as long as a window, which has no silence behind it
    found = codes_and_states(content, wave[0])
    with torch.inference_mode():
        assert torch.equal(found.codes, codes.codes(whisper.states(wave)[0]))
        assert found.states.shape == (2, 100, 12)
        torch.testing.assert_close(found.states[1], whisper.states(wave)[0])
        short = codes_and_states(content, wave[0, :5_000])
        spectra = whisper.encoder.spectra(wave[:, :5_000], 16 + 50)
        states = whisper.encoder.layer_states(spectra)
    assert short.codes.shape == (8, 1)
    torch.testing.assert_close(short.states, torch.cat(states)[:, :16])
    assert torch.equal(short.codes, codes.codes(states[-1][0, :16]))


def test_codes_of_long_recordings_come_window_after_window(content):
    wave = noise(1, 32_000)[0]
    longer, whole = (
        codes_and_states(content, torch.cat([wave, wave[:1_000]])),
        codes_and_states(content, wave),
    )
    assert torch.equal(longer.codes[:50], whole.codes)
    assert longer.codes.shape == (52, 1)
    assert longer.states.shape == (2, 104, 12)
    assert codes_and_states(content, wave[:0]).states.shape == (2, 0, 12)


def test_a_row_depends_on_no_other_row(content):
    wave, lengths = noise(2, 20_000), torch.tensor([20_000, 7_000])
    with torch.inference_mode():
        together = content(wave, lengths)
        alone = content(wave[1:, :7_000])
    assert content.frames_of(7_000) == 11
    torch.testing.assert_close(together[1, :11], alone[0])
    assert not together[1, 11:].any()


def test_a_recording_longer_than_a_window_is_encoded_in_windows(content):
    assert content.most_samples == 32_000
    wave = noise(100_000)
    found = content.extract(wave)
    assert found.shape == (content.frames_of(100_000), 6)
    step = content.most_samples - 2 * content.context
    torch.testing.assert_close(
        found[: step // content.hop],
        content.extract(wave[: step + content.context])[: step // content.hop],
    )
    with pytest.raises(ValueError, match="longer than a window"):
        content.encode(wave[None, : content.most_samples + content.hop])


def test_the_folder_keeps_encoder_and_codes(content, tmp_path):
    save(content, tmp_path)
    again = load(tmp_path)
    wave = noise(1, 16_000)
    with torch.inference_mode():
        torch.testing.assert_close(again(wave), content(wave))


def test_codes_of_another_whisper_are_refused():
    with pytest.raises(ValueError, match="codes of 10 elements"):
        WordCodeContent(WHISPER, {**CODES, "states": 10})


def test_a_live_window_has_the_codes_of_a_short_window(whisper, codes, content, native):
    wave = noise(1, 640 * 30)
    with torch.inference_mode():
        states = content.encoder(content.encoder.spectra(wave, 60))
        wanted = codes.codes(states[0])[:, 0]
        vectors = native.encoded(states, torch.tensor([60]))[0]
    found = content.live(wave[0])
    entries = codes.quantizer.books[0].vectors
    assert torch.equal(found.entries, entries[wanted])
    assert found.scores.shape == (30, 1)
    assert not found.silent.any()
    nearest = codes.quantizer.books[0].nearest(vectors)
    assert torch.equal(content.live(wave[0], "native").entries, entries[nearest])
    with pytest.raises(VoicenymError, match="knows no codes of a native reading"):
        content.live(wave[0], "drawn")


def test_silent_places_of_a_live_window_keep_their_code_under_an_accent(codes, content, native):
    centre = torch.zeros(6)
    whole = native.with_accents(torch.eye(6), centre, silence=0)
    entries = codes.quantizer.books[0].vectors
    content.take_native(whole, "drawn")
    wave = noise(640 * 30, seed=4)
    plain = content.live(wave, "drawn")
    silence = int(codes.quantizer.books[0].nearest(plain.entries).mode().values)
    content.take_native(native.with_accents(torch.eye(6), centre, silence=silence), "drawn")
    accent = whole.drawn(-50.0 * torch.ones(1, 12))
    found = content.live(wave, "drawn", accent)
    assert found.silent.any()
    assert torch.equal(found.silent, (plain.entries == entries[silence]).all(1))
    assert torch.equal(found.entries[found.silent], plain.entries[found.silent])
    assert not torch.equal(found.entries[~found.silent], plain.entries[~found.silent])
