"""Windows of speech for training on Whisper's states: several recordings in a row, with texts.

Recordings without a text have Whisper's transcript, which is kept. Windows are drawn without
return; recordings added to a corpus later do not change earlier windows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.words.whisper.whisper import STATE, WINDOW
from voicenym.nets.words.whisper.whisper_published import Published
from voicenym.private import private_folder, write_private
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer, sentence
from voicenym.training.speech.speech_cache import Utterance

LEVEL = 0.05
"""Root mean square that recordings are brought to, before a gain is drawn."""
GAIN = 6.0
"""Greatest random gain of a window's recordings, in dB up or down."""
PAUSE = (0.1, 0.6)
"""Seconds between recordings."""
FLOOR = 1e-4
"""Noise in pauses, root mean square."""
BLOCK = 500
"""Recordings from which windows are drawn, in the given order: recordings added to a corpus later
do not change earlier windows.
"""


class Change(Protocol):
    """An augmentation that keeps the length: another voice, a room."""

    def identity(self) -> str:
        """Equal names mean equal changes."""

    def __call__(self, samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """``[time]`` float32 at 16 kHz to the same."""


class Piece(NamedTuple):
    """A recording with its text.

    Args:
        speech: in the speech cache.
        text: as Whisper would write it.
    """

    speech: Utterance
    text: str


@dataclass(frozen=True)
class Cut:
    """Cutting of recordings into windows.

    Args:
        shortest, longest: seconds of a window, drawn evenly.
        single: share of windows that are of one recording, however short.
        rounds: how often each recording comes.
        seed: of the draws.
        by_speaker: whether a window holds recordings of one speaker alone.
    """

    shortest: float = 4.0
    longest: float = 28.0
    single: float = 0.2
    rounds: int = 1
    seed: int = 0
    by_speaker: bool = False


def pieces(
    speech: Sequence[Utterance],
    whisper: Published,
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[Piece]:
    """Recordings with their texts, or with Whisper's transcripts, which are cached.

    Recordings longer than a window, or without words in Whisper's transcript, are left out.

    Raises:
        DependencyError: tokenizers is not installed.
        VoicenymError: transcripts cannot be kept.
    """
    tokenizer = Tokenizer(whisper.tokenizer)
    place = private_folder(folder, "recogniser states of speech")
    most = whisper.network.sizes.states * STATE
    found = []
    for done, utterance in enumerate(speech):
        if utterance.length > most:
            continue
        text = sentence(utterance.recording.text)
        if not text:
            path = place / f"{utterance.path.stem}.txt"
            if not path.is_file():
                with torch.inference_mode():
                    states = whisper.network.states(torch.from_numpy(utterance.samples())[None])
                written = whisper.network.write(states, whisper.writing)[0]
                keep_privately(path, tokenizer.decode(written).encode())
            text = path.read_text("utf-8")
        if text:
            found.append(Piece(utterance, text))
        if (done + 1) % 500 == 0:
            say(f"{done + 1} of {len(speech)} texts")
    return found


def parted(all_pieces: Sequence[Piece], how: Cut) -> list[list[Piece]]:
    """Recordings in windows, drawn without return; each comes once a round.

    Raises:
        CorpusError: there are none.
    """
    if not all_pieces:
        raise CorpusError("no recording shorter than 30 s with words in it; give such speech")
    together = by_speaker(all_pieces).values() if how.by_speaker else [all_pieces]
    windows: list[list[Piece]] = []
    for own in together:
        for start in range(0, len(own), BLOCK):
            some = own[start : start + BLOCK]
            for number in range(how.rounds):
                windows += _round(some, how, np.random.default_rng((how.seed, start, number)))
    return windows


def by_speaker(some: Sequence[Piece]) -> dict[str, list[Piece]]:
    """Recordings of each speaker, by name."""
    found: dict[str, list[Piece]] = {}
    for piece in some:
        found.setdefault(piece.speech.speaker, []).append(piece)
    return dict(sorted(found.items()))


def only_speaker(window: Sequence[Piece]) -> str:
    """Name of the speaker of a window's recordings; empty for several speakers."""
    names = {piece.speech.speaker for piece in window}
    return names.pop() if len(names) == 1 else ""


def _round(some: Sequence[Piece], how: Cut, rng: np.random.Generator) -> list[list[Piece]]:
    windows: list[list[Piece]] = []
    window: list[Piece] = []
    length = goal = 0.0
    for i in rng.permutation(len(some)):
        more = some[i].speech.length / RATE + PAUSE[1]
        if window and length + more > goal:
            windows.append(window)
            window, length = [], 0.0
        if not window:
            one = rng.random() < how.single
            goal = 0.0 if one else rng.uniform(how.shortest, how.longest)
        window.append(some[i])
        length += more
    windows.append(window)
    return windows


class JoinedSpeech(NamedTuple):
    """Recordings one after the other.

    Args:
        original: ``[time]`` float32 at 16 kHz.
        changed: the same, changed; None without a change.
        starts: of each recording, in samples; behind the end for those that have no room.
    """

    original: np.ndarray
    changed: np.ndarray | None
    starts: list[int]


def joined(
    window: Sequence[Piece],
    change: Change | None,
    rng: np.random.Generator,
    most: int = WINDOW,
    step: int = 1,
) -> JoinedSpeech:
    """Recordings of a window with pauses between them, as they are and changed.

    Args:
        window: the recordings.
        change: of each.
        rng: of gains, pauses and the change.
        most: samples at most.
        step: recordings begin at its multiples, in samples; pauses get longer for it.
    """
    clean: list[np.ndarray] = []
    other: list[np.ndarray] = []
    starts, length = [], 0
    for i, piece in enumerate(window):
        samples = piece.speech.samples()
        loud = float(np.sqrt(np.mean(samples**2))) or 1.0
        gain = LEVEL / loud * 10.0 ** (rng.uniform(-GAIN, GAIN) / 20.0)
        if i:
            pause = round(rng.uniform(*PAUSE) * RATE)
            pause += -(length + pause) % step
            noise = (FLOOR * rng.standard_normal(pause)).astype(np.float32)
            clean.append(noise)
            other.append(noise)
            length += pause
        starts.append(length)
        length += len(samples)
        clean.append(np.clip(samples * gain, -1.0, 1.0).astype(np.float32))
        if change is not None:
            other.append(change(clean[-1], rng))
    original = np.concatenate(clean)[:most]
    changed = None if change is None else np.concatenate(other)[:most]
    return JoinedSpeech(original, changed, starts)


def keep_privately(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, whole or not at all.

    Raises:
        VoicenymError: it cannot be written.
    """
    try:
        write_private(path, content)
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot keep states here ({error.strerror}); free some space, or "
            "choose another folder"
        ) from error
