"""Live encoders that a decoder reads: windows of whole recordings, and the loss of the words."""

from __future__ import annotations

import numpy as np
import pytest
import torch

pytest.importorskip("lightning")

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.live_codes.live_code_texts import TextWindow, TextWindows, text_batch
from voicenym.training.content.live_codes.live_code_windows import Taught
from voicenym.training.content.live_codes.train_live_codes import (
    Distillation,
    LiveCodesConfig,
    Texts,
    train,
)
from voicenym.training.content.word_codes.train_word_codes import places_of
from voicenym.training.speech.speech_cache import Utterance

EVERY, HOP = 2, 2 * STATE
SILENCE = 3
BEGIN, END = (20, 21), 19


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """Recordings of two speakers; each sample, and each vector, is the number of its recording."""
    folder = tmp_path_factory.mktemp("speech")
    found = []
    for number, (speaker, codes) in enumerate([("p", 3), ("p", 5), ("q", 4), ("q", 30)], 1):
        path = folder / f"{number}.i16"
        np.full(codes * HOP - 100, number, np.int16).tofile(path)
        vectors = folder / f"{number}.npy"
        np.save(vectors, np.full((codes, 8), number, np.float16))
        one = Recording(f"{number}", speaker, folder / f"{number}.wav")
        found.append(Taught(Utterance(one, path, codes * HOP - 100), vectors))
    return found


def windows_of(speech, texts, count=40, states=20):
    return TextWindows(speech, texts, BEGIN, END, states, EVERY, count, seed=1)


def test_windows_are_of_whole_recordings_of_one_speaker_with_their_texts(speech):
    texts = {str(number): [number, number + 4] for number in range(1, 5)}
    lengths = {1: 3, 2: 5, 3: 4}
    seen = set()
    for one in (windows := windows_of(speech, texts)):
        said = one.tokens[len(BEGIN) : -1].reshape(-1, 2)
        assert tuple(one.tokens[: one.prefix]) == BEGIN
        assert one.tokens[-1] == END
        numbers = said[:, 0].tolist()
        assert said[:, 1].tolist() == [number + 4 for number in numbers]
        wanted = np.repeat(numbers, [lengths[number] for number in numbers])
        assert one.vectors[:, 0].tolist() == wanted.tolist()
        assert len(one.samples) == len(wanted) * HOP
        assert len(wanted) * EVERY <= 20 or len(numbers) == 1
        assert len({number <= 2 for number in numbers}) == 1
        seen.add(tuple(numbers))
    assert len({len(numbers) for numbers in seen}) > 1
    assert 4 not in {number for numbers in seen for number in numbers}  # longer than a window
    again = windows_of(speech, texts)
    assert np.array_equal(again[3].tokens, windows[3].tokens)


def test_recordings_without_a_text_are_left_out(speech):
    some = windows_of(speech, {"1": [1]})
    assert {tuple(set(one.tokens[2:-1].tolist())) for one in some} == {(1,)}
    with pytest.raises(CorpusError, match=r"has a text; give texts, or 'words: 0'"):
        windows_of(speech, {"4": [1]})


def test_a_share_of_the_windows_has_no_words_and_any_recordings(speech):
    texts = {str(number): [number] for number in range(1, 5)}
    some = TextWindows(speech, texts, BEGIN, END, 20, EVERY, 60, seed=1, wordless=0.5)
    without = [one for one in some if one.prefix == len(one.tokens)]
    assert 15 < len(without) < 45
    assert {tuple(one.tokens) for one in without} == {(*BEGIN, END)}
    assert {len(one.vectors) for one in without} == {10}
    assert any(4 in one.vectors for one in without)  # longer than a window
    places = places_of(torch.arange(24), 24)
    assert (text_batch(without[:2], EVERY, 4, places).wanted < 0).all()


def window(codes, tokens, seed=0):
    rng = np.random.default_rng(seed)
    return TextWindow(
        (0.1 * rng.standard_normal(codes * HOP)).astype(np.float32),
        rng.standard_normal((codes, 8)).astype(np.float32),
        np.array([*BEGIN, *tokens, END]),
        len(BEGIN),
    )


def test_a_batch_has_whole_chunks_and_knows_the_lengths():
    places = places_of(torch.arange(24), 24)
    batch = text_batch([window(5, [1, 2]), window(3, [3])], EVERY, 4, places)
    assert batch.samples.shape == (2, 6 * HOP)
    assert batch.vectors.shape == (2, 6, 8)
    assert batch.lengths.tolist() == [10, 6]
    assert not batch.samples[1, 3 * HOP :].any()
    assert batch.wanted.tolist() == [[-100, 1, 2, END], [-100, 3, END, -100]]


@pytest.fixture(scope="module")
def parts(whisper):
    """Content of random word codes, an encoder with drawn accents, and a live encoder."""
    torch.manual_seed(1)
    size = whisper.network.sizes
    sizes = {"states": size.width, "window": size.states, "width": 16, "inner": 16, "code": 8}
    codes = WordCodes(**sizes, entries=12, kernel=3, after=1)
    codes.quantizer.books[0].vectors.copy_(torch.randn(12, 8))
    codes.quantizer.books[0].steps.fill_(1)
    content = WordCodeContent.of(whisper.network, codes)
    plain = WordCodeEncoder("book", **sizes, entries=12)
    teacher = plain.with_accents(torch.randn(3, 8), torch.randn(8), SILENCE)
    network = LiveWordCodes.of(
        content.encoder, size, teacher, rank=2, past=40, left=8, period=100, ahead=4
    )
    with torch.no_grad():
        for value in network.parameters():
            value.add_(0.1 * torch.randn(value.shape))
    return network, content.requires_grad_(False), teacher.requires_grad_(False)


def distillation(parts, whisper, **settings):
    tokens = {"1": [1, 2, 3], "2": [4, 5]}
    decoder = whisper.network.decoder.requires_grad_(False)
    texts = Texts(decoder, tokens, BEGIN, END)
    config = LiveCodesConfig(words=1.0, delays=((2, 4), (4, 4)), **settings)
    return Distillation(*parts, config, texts)


def words(made, windows, seed=0):
    places = places_of(made._texts.pieces(), 24)
    batch = text_batch(windows, EVERY, 4, places)
    found = made.network(*made._teachers(batch.samples), batch.samples, 4, 0, 2).own
    return made._words(found, batch, torch.Generator().manual_seed(seed))


def test_the_loss_of_words_does_not_depend_on_the_other_windows_of_a_batch(parts, whisper):
    made = distillation(parts, whisper, accented=0.0)
    long, short = window(9, [1, 2, 3]), window(3, [4, 5], seed=1)
    with torch.no_grad():
        apart = [words(made, [one]) for one in (long, short)]
        both = words(made, [long, short])
    # tokens of both, each with the end
    torch.testing.assert_close(both, (4 * apart[0] + 3 * apart[1]) / 7, rtol=1e-4, atol=1e-4)
    assert not torch.isclose(apart[0], apart[1], rtol=0.01)


def test_words_reach_the_weights_and_nothing_else(parts, whisper):
    made = distillation(parts, whisper)
    made.network.zero_grad()
    words(made, [window(9, [1, 2, 3])]).backward()
    reached = [value.grad for value in made.network.parameters() if value.grad is not None]
    assert reached
    assert any(grad.any() for grad in reached)
    for module in (made._texts.decoder, *parts[1:]):
        assert all(value.grad is None for value in module.parameters())
    assert not any("decoder" in name for name, _ in made.named_parameters())


def test_accents_are_drawn_for_a_share_of_the_windows(parts, whisper):
    plain, accented = (distillation(parts, whisper, accented=share) for share in (0.0, 1.0))
    some = [window(9, [1, 2, 3])]
    with torch.no_grad():
        assert torch.equal(words(plain, some, 1), words(plain, some, 2))
        assert not torch.equal(words(accented, some, 1), words(accented, some, 2))


def test_words_that_count_need_texts(parts, speech, tmp_path):
    with pytest.raises(CorpusError, match="no texts are given; give them, or 'words: 0'"):
        train(*parts, speech, speech, LiveCodesConfig(words=0.5), tmp_path)
