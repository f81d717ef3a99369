"""Windows of speech as states: texts, cuts, and what is kept."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.training.content.word_codes.speech_windows import (
    BLOCK,
    Cut,
    Piece,
    joined,
    parted,
    pieces,
)
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer, sentence
from voicenym.training.content.word_codes.word_state_dataset import StateFiles, keep, kept


def test_capitals_become_a_sentence():
    assert sentence("WE  CALL IT BEAR") == "We call it bear."
    assert sentence("I THINK I'M LATE") == "I think I'm late."
    assert sentence("Already written, as it is") == "Already written, as it is"
    assert sentence("") == ""


def test_each_recording_comes_once_a_round(shelved):
    some = [Piece(utterance, "a b") for utterance in shelved]
    windows = parted(some, Cut(shortest=2.0, longest=4.0, single=0.3, rounds=2))
    names = sorted(piece.speech.path.name for window in windows for piece in window)
    assert names == sorted([piece.speech.path.name for piece in some] * 2)
    seconds = [sum(p.speech.length / 16_000 + 0.6 for p in window) for window in windows]
    assert max(seconds) <= 4.0
    assert any(len(window) == 1 for window in windows)
    assert any(len(window) > 1 for window in windows)
    with pytest.raises(CorpusError, match="give such speech"):
        parted([], Cut())


def test_what_comes_later_leaves_windows_as_they_are(shelved):
    many = [Piece(shelved[i % len(shelved)], str(i)) for i in range(BLOCK + 40)]
    before = parted(many[: BLOCK + 9], Cut())
    after = parted(many, Cut())
    same = sum(one == other for one, other in zip(before, after, strict=False))
    assert sum(len(window) for window in before[:same]) == BLOCK


class Softer:
    def identity(self):
        return "softer"

    def __call__(self, samples, rng):
        return 0.5 * samples


def test_pauses_lie_between_and_changes_keep_the_time(shelved):
    window = [Piece(shelved[0], "a"), Piece(shelved[7], "b")]
    original, changed, starts = joined(window, Softer(), np.random.default_rng(0))
    assert original.dtype == changed.dtype == np.float32
    speech = sum(piece.speech.length for piece in window)
    assert 0.1 * 16_000 <= len(original) - speech <= 0.6 * 16_000
    assert len(changed) == len(original)
    np.testing.assert_allclose(changed[:1000], 0.5 * original[:1000], rtol=1e-5)
    short, _, _ = joined(window, None, np.random.default_rng(0), most=20_000)
    np.testing.assert_array_equal(short, original[:20_000])
    assert starts == [0, len(original) - window[1].speech.length]


def test_recordings_begin_at_whole_codes(shelved):
    window = [Piece(u, "a") for u in shelved[:4]]
    found = joined(window, None, np.random.default_rng(0), step=640)
    assert all(start % 640 == 0 for start in found.starts)
    for piece, start in zip(window, found.starts, strict=True):
        speech = found.original[start : start + piece.speech.length]
        # a gain apart, it is the recording
        assert np.corrcoef(speech, piece.speech.samples())[0, 1] > 0.999
    ends = [s + p.speech.length for s, p in zip(found.starts, window, strict=True)]
    pauses = np.array(found.starts[1:]) - np.array(ends[:-1])
    assert pauses.min() >= 0.1 * 16_000
    assert pauses.max() < 0.6 * 16_000 + 640


def test_windows_are_processed_once(whisper, shelved, tmp_path):
    window = [Piece(shelved[0], "a b"), Piece(shelved[1], "b")]
    hearing = StateFiles(whisper, tmp_path / "states")
    (path,) = hearing([window])
    found = kept(path)
    count = -(-len(joined(window, None, _drawn(path)).original) // STATE)
    assert found.inputs.shape == (count, whisper.network.sizes.width)
    assert found.inputs.dtype == found.targets.dtype == np.float16
    assert found.states is None
    tokens = Tokenizer(whisper.tokenizer).encode("a b b")
    assert found.tokens.tolist() == [*whisper.writing.begin, *tokens, whisper.writing.end]
    assert found.targets.shape == (len(found.tokens) - 1, whisper.network.sizes.width)
    stamp = path.stat().st_mtime_ns
    assert hearing([window]) == [path]
    assert path.stat().st_mtime_ns == stamp
    assert path.parent.stat().st_mode & 0o077 == 0


def test_of_a_changed_window_the_original_is_asked_for(whisper, shelved, tmp_path):
    window = [Piece(shelved[0], "a b")]
    plain = kept(StateFiles(whisper, tmp_path)([window])[0])
    changed = kept(StateFiles(whisper, tmp_path, Softer())([window])[0])
    assert changed.states.shape == changed.inputs.shape == plain.inputs.shape
    assert not np.array_equal(changed.inputs, changed.states)
    assert np.array_equal(changed.tokens, plain.tokens)


def test_speech_without_a_text_has_what_whisper_hears(whisper, shelved, tmp_path):
    import dataclasses

    silent = [
        dataclasses.replace(u, recording=dataclasses.replace(u.recording, text=""))
        for u in shelved[:3]
    ]
    found = pieces(silent, whisper, tmp_path)
    files = sorted(tmp_path.glob("*.txt"))
    assert len(files) == 3
    texts = {path.stem: path.read_text() for path in files}
    assert [p.text for p in found] == [texts[u.path.stem] for u in silent if texts[u.path.stem]]
    files[0].write_text("b b b")
    again = {p.speech.path.stem: p.text for p in pieces(silent, whisper, tmp_path)}
    assert again[files[0].stem] == "b b b"
    with_text = pieces(shelved[:1], whisper, tmp_path)
    assert [p.text for p in with_text] == ["a b"]


def test_what_is_damaged_is_named(whisper, shelved, tmp_path):
    (path,) = StateFiles(whisper, tmp_path)([[Piece(shelved[0], "a b")]])
    whole = kept(path)
    keep(path, whole)
    assert torch.equal(torch.from_numpy(kept(path).inputs), torch.from_numpy(whole.inputs))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(VoicenymError, match=r"damaged .* delete it and run again"):
        kept(path)
    with pytest.raises(VoicenymError, match="it comes with Whisper"):
        Tokenizer(tmp_path / "tokenizer.json")


def _drawn(path):
    """The draws that a window of this file was made by."""
    return np.random.default_rng((0, int.from_bytes(bytes.fromhex(path.stem[:12]), "big")))
