"""Dataset of Whisper states: windows of speech, encoded once and cached in files.

A window joins several recordings (:mod:`voicenym.training.content.word_codes.speech_windows`),
since Whisper's states depend on their position in a window and on all of it. Its file holds the
encoder's states of the speech, the text as tokens, and the decoder's last layer for the original
states, which is the training target of codes. With a voice augmentation, the encoder's states are
those of changed speech, and the decoder's those of the original: the words are the same, the voice
and the room are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.words.whisper.whisper import STATE
from voicenym.nets.words.whisper.whisper_published import Published
from voicenym.private import private_folder
from voicenym.training.content.word_codes.speech_windows import (
    Change,
    Piece,
    joined,
    keep_privately,
)
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer
from voicenym.training.content.word_codes.window_files import WindowFiles

MOST_TOKENS = 400
"""Tokens of a window's text at most; the decoder has 448 positions."""

FILE_NAMES = {"inputs": "heard", "targets": "taught"}
"""Names of arrays in files, where they differ from the fields of :class:`Window`."""


class Window(NamedTuple):
    """A training window.

    Args:
        inputs: states of the input ``[state, size]`` float16, the bottleneck's input.
        states: the same of the original; None where that is the same.
        tokens: ``[token]``, with the prefix and the end.
        targets: ``[token, width]`` float16, the decoder's last layer on the original states, for
            every token but the last.
        prefix: tokens of the prefix.
        speaker: number of the only speaker; -1 for several, or where it does not matter. It is not
            in the file.
    """

    inputs: np.ndarray
    states: np.ndarray | None
    tokens: np.ndarray
    targets: np.ndarray
    prefix: int
    speaker: int = -1


class StateFiles(WindowFiles):
    """Whisper's states of windows, one file each in a folder.

    Args:
        whisper: the recogniser.
        folder: readable by its owner alone, because states are derived from speech.
        change: augmentation of the input; None for none.
        seed: of gains, pauses and changes.
        device: of Whisper.
    """

    def __init__(
        self,
        whisper: Published,
        folder: Path,
        change: Change | None = None,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self._whisper, self._change, self._seed = whisper, change, seed
        self._network = whisper.network.to(device)
        self._device = device
        self._tokenizer = Tokenizer(whisper.tokenizer)
        self._folder = private_folder(folder, "recogniser states of speech")

    def path(self, window: Sequence[Piece]) -> Path:
        """Path of a window's states, named by a digest of its content."""
        change = "" if self._change is None else self._change.identity()
        texts = [f"{p.speech.path.stem} {p.text}" for p in window]
        name = hashlib.sha256("\n".join([str(self._seed), change, *texts]).encode()).hexdigest()
        return self._folder / f"{name[:32]}.npz"

    def make(self, path: Path, window: Sequence[Piece]) -> None:
        keep(path, self.analysed(window))

    @torch.inference_mode()
    def analysed(self, window: Sequence[Piece]) -> Window:
        """One window."""
        how = self._whisper.writing
        number = int.from_bytes(bytes.fromhex(self.path(window).stem[:12]), "big")
        rng = np.random.default_rng((self._seed, number))
        original, changed, _ = joined(window, self._change, rng, self._network.sizes.states * STATE)
        waves = [original] if changed is None else [original, changed]
        count = -(-len(original) // STATE)
        states = self._network.states(torch.from_numpy(np.stack(waves)).to(self._device))
        text = " ".join(piece.text for piece in window)
        tokens = [*how.begin, *self._tokenizer.encode(text)[:MOST_TOKENS], how.end]
        asked = torch.tensor([tokens[:-1]], device=self._device)
        decoder = self._network.decoder
        targets = decoder(asked, decoder.cross_keys_values(states[:1]))[0]
        half = states[:, :count].half().cpu().numpy()
        return Window(
            half[-1],
            None if changed is None else half[0],
            np.array(tokens, dtype=np.int32),
            targets.half().cpu().numpy(),
            len(how.begin),
        )


def keep(path: Path, window: Window) -> None:
    """Keep a window in a file, whole or not at all.

    Raises:
        VoicenymError: it cannot be written.
    """
    arrays: dict[str, Any] = {**window._asdict(), "prefix": np.array(window.prefix)}
    del arrays["speaker"]
    named = {FILE_NAMES.get(name, name): value for name, value in arrays.items()}
    keep_arrays(path, {name: value for name, value in named.items() if value is not None})


def kept(path: Path, speaker: int = -1) -> Window:
    """Read a file of :func:`keep`.

    Args:
        path: of the file.
        speaker: number of the window's speaker.

    Raises:
        VoicenymError: it cannot be read.
    """
    # only augmented windows have states of the original
    names = [FILE_NAMES.get(one, one) for one in Window._fields if one not in ("states", "speaker")]
    found = arrays_in(path, names, ("states",))
    return Window(
        found[FILE_NAMES["inputs"]],
        found.get("states"),
        found["tokens"],
        found[FILE_NAMES["targets"]],
        int(found["prefix"]),
        speaker,
    )


def text_of(path: Path) -> np.ndarray:
    """The tokens alone of what :func:`keep` wrote.

    Raises:
        VoicenymError: as :func:`kept`.
    """
    return arrays_in(path, ("tokens",))["tokens"]


def keep_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Keep arrays in a file for their owner alone, whole or not at all.

    Raises:
        VoicenymError: it cannot be written.
    """
    import io

    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    keep_privately(path, buffer.getvalue())


def arrays_in(
    path: Path, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """Arrays of a file of :func:`keep_arrays`, those of ``optional`` where it has them.

    Raises:
        VoicenymError: it cannot be read, or lacks one of ``names``.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            wanted = [*names, *(name for name in optional if name in file.files)]
            return {name: file[name] for name in wanted}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise VoicenymError(f"{path}: damaged ({error}); delete it and run again") from error
