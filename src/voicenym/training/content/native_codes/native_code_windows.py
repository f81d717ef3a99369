"""Windows of speech with Whisper's states and the codes that an encoder of native codes shall give.

Windows join recordings as those of word codes do
(:mod:`voicenym.training.content.word_codes.word_state_dataset`), but each recording begins with a
code, so that targets of single recordings can be laid side by side. In varied windows speech is
faster or slower, with noise. Where a recording has no reading, the code that the start's encoder
gives in this window is the target; pauses and quiet places have the code of silence everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.masked_batch import padded
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.whisper.whisper_published import Published
from voicenym.private import private_folder
from voicenym.training.content.native_codes.native_code_targets import UNKNOWN, digest
from voicenym.training.content.native_codes.reading_alignment import quiet
from voicenym.training.content.word_codes.speech_windows import PAUSE, Piece, joined
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer
from voicenym.training.content.word_codes.window_files import WindowFiles
from voicenym.training.content.word_codes.word_code_batches import texts
from voicenym.training.content.word_codes.word_state_dataset import (
    MOST_TOKENS,
    arrays_in,
    keep_arrays,
)
from voicenym.training.speech.speech_cache import Utterance

PACED, PACES = 0.5, (0.88, 1.14)
"""Share of varied windows in another pace, and the factors of the pace; the pitch follows."""
NOISY, NOISE = 0.3, (1e-4, 5e-3)
"""Share of varied windows with more noise, and its root mean square, drawn evenly in decibels."""


class NativeWindow(NamedTuple):
    """A training window.

    Args:
        inputs: Whisper's states ``[state, size]`` float16.
        codes: what the encoder shall give, ``[code]``.
        native: whether a code is that of a reading, or of silence; others are the start's own.
        tokens: ``[token]``, with prefix and end.
        prefix: tokens of the prefix.
        speaker: number among those with readings; -1 for others.
    """

    inputs: np.ndarray
    codes: np.ndarray
    native: np.ndarray
    tokens: np.ndarray
    prefix: int
    speaker: int = -1


class NativeBatch(NamedTuple):
    """Windows of like length, as fields of :class:`NativeWindow`.

    Args:
        inputs: ``[batch, state, size]``, zeros behind.
        lengths: ``[batch]``, states.
        codes, native: ``[batch, code]``.
        tokens, wanted: as of
            :class:`~voicenym.training.content.word_codes.word_code_batches.Batch`.
        speakers: ``[batch]``.
    """

    inputs: torch.Tensor
    lengths: torch.Tensor
    codes: torch.Tensor
    native: torch.Tensor
    tokens: torch.Tensor
    wanted: torch.Tensor
    speakers: torch.Tensor


@dataclass(frozen=True)
class Paced(Utterance):
    """Speech at another pace.

    Args:
        recording, path, length: as of :class:`~voicenym.training.speech.speech_cache.Utterance`;
            the length is the new one.
        source: as it is.
    """

    source: Utterance

    def samples(self, start: int = 0, length: int | None = None) -> np.ndarray:
        known = self.source.samples()
        places = np.arange(self.length) * (len(known) / self.length)
        found = np.interp(places, np.arange(len(known)), known).astype(np.float32)
        return found[start : None if length is None else start + length]


class NativeCodeFiles(WindowFiles):
    """Windows of native codes, one file each in a folder.

    Args:
        whisper: the recogniser.
        codes: the start, of one book.
        targets: codes of recordings with readings, ``[code]``, by the stem of their files in the
            speech cache.
        silence: code of pauses and quiet places.
        folder: readable by its owner alone, because states are derived from speech.
        varied: whether pace and noise are varied.
        seed: of gains, pauses and variations.
        device: of Whisper and the codes.
    """

    def __init__(
        self,
        whisper: Published,
        codes: WordCodes,
        targets: Mapping[str, np.ndarray],
        silence: int,
        folder: Path,
        varied: bool = False,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self._whisper, self._targets, self._silence = whisper, targets, silence
        self._varied, self._seed, self._device = varied, seed, device
        self._network, self._codes = whisper.network.to(device), codes.to(device).eval()
        self._identity = digest(codes.state_dict())
        self._tokenizer = Tokenizer(whisper.tokenizer)
        self._folder = private_folder(folder, "recogniser states of speech")
        self._hop = codes.sizes.every * STATE

    def path(self, window: Sequence[Piece]) -> Path:
        """Path of a window's file, named by a digest of its content."""
        found = hashlib.sha256(
            f"{self._seed} {self._varied} {self._silence} {self._identity}".encode()
        )
        for piece in window:
            found.update(f"\n{piece.speech.path.stem} {piece.text} ".encode())
            known = self._targets.get(piece.speech.path.stem)
            found.update(b"" if known is None else known.astype(np.int64).tobytes())
        return self._folder / f"{found.hexdigest()[:32]}.native.npz"

    def make(self, path: Path, window: Sequence[Piece]) -> None:
        keep(path, self.analysed(window))

    @torch.inference_mode()
    def analysed(self, window: Sequence[Piece]) -> NativeWindow:
        """One window."""
        how = self._whisper.writing
        number = int.from_bytes(bytes.fromhex(self.path(window).name[:12]), "big")
        rng = np.random.default_rng((self._seed, number))
        pace, noise = 1.0, 0.0
        most = self._network.sizes.states * STATE
        if self._varied:
            if rng.random() < PACED:
                # not so slowly that the end of the text is no longer in the window
                length = sum(piece.speech.length + PAUSE[1] * RATE + self._hop for piece in window)
                pace = max(rng.uniform(*PACES), min(1.0, length / most))
            if rng.random() < NOISY:
                noise = float(np.exp(rng.uniform(*np.log(NOISE))))
        said = [piece._replace(speech=paced(piece.speech, pace)) for piece in window]
        samples, _, starts = joined(said, None, rng, most, self._hop)
        if noise:
            noisy = samples + noise * rng.standard_normal(len(samples))
            samples = np.clip(noisy, -1.0, 1.0).astype(np.float32)
        count = -(-len(samples) // STATE)
        waves = torch.from_numpy(samples)[None].to(self._device)
        states = self._network.states(waves)[0, :count]
        own = self._codes.codes(states)[:, 0].cpu().numpy()
        wanted = np.full(len(own), self._silence)
        for piece, start in zip(said, starts, strict=True):
            first = start // self._hop
            part = self._of(piece, pace)[: max(0, len(own) - first)]
            wanted[first : first + len(part)] = part
        native = wanted != UNKNOWN
        text = " ".join(piece.text for piece in window)
        tokens = [*how.begin, *self._tokenizer.encode(text)[:MOST_TOKENS], how.end]
        return NativeWindow(
            states.half().cpu().numpy(),
            np.where(native, wanted, own).astype(np.int16),
            native,
            np.array(tokens, dtype=np.int32),
            len(how.begin),
        )

    def _of(self, piece: Piece, pace: float) -> np.ndarray:
        """Target codes of a recording at a pace, ``[code]``; :data:`UNKNOWN` for its own."""
        known = self._targets.get(piece.speech.path.stem)
        if known is None:
            silent = quiet(piece.speech.samples(), self._hop)
            return np.where(silent, self._silence, UNKNOWN)
        count = -(-piece.speech.length // self._hop)
        places = np.rint(np.arange(count) * pace).astype(int)
        return known[np.minimum(places, len(known) - 1)]


def paced(speech: Utterance, pace: float) -> Utterance:
    """Speech that is so many times as fast, by linear interpolation."""
    if pace == 1.0:
        return speech
    length = max(1, round(speech.length / pace))
    return Paced(speech.recording, speech.path, length, speech)


def keep(path: Path, window: NativeWindow) -> None:
    """Keep a window in a file, whole or not at all; its speaker is not in it.

    Raises:
        VoicenymError: it cannot be written.
    """
    arrays = {name: np.asarray(value) for name, value in window._asdict().items()}
    del arrays["speaker"]
    keep_arrays(path, arrays)


@dataclass(frozen=True)
class WindowReader:
    """Reads files of :func:`keep`.

    Args:
        speakers: numbers of the windows' speakers, by path; -1 for those that are not here.
    """

    speakers: Mapping[Path, int]

    def __call__(self, path: Path) -> NativeWindow:
        """A window.

        Raises:
            VoicenymError: it cannot be read.
        """
        names = [name for name in NativeWindow._fields if name != "speaker"]
        found = arrays_in(path, names)
        prefix = int(found.pop("prefix"))
        return NativeWindow(**found, prefix=prefix, speaker=self.speakers.get(path, -1))


def native_batch(windows: Sequence[NativeWindow], places: torch.Tensor) -> NativeBatch:
    """Windows padded to a batch.

    Args:
        windows: of the cache.
        places: of each token among those that scores are made for.
    """
    inputs, lengths = padded([torch.from_numpy(w.inputs).float() for w in windows])
    codes, _ = padded([torch.from_numpy(w.codes).long() for w in windows])
    native, _ = padded([torch.from_numpy(w.native) for w in windows])
    speakers = torch.tensor([window.speaker for window in windows])
    return NativeBatch(inputs, lengths, codes, native, *texts(windows, places), speakers)
