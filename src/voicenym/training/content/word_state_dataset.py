"""Dataset of Whisper states: windows of speech, encoded once and kept in files.

A window joins several recordings, since Whisper's states depend on their position in a window and
on all of it. Its file holds the encoder's states of the speech, the text as tokens, and the
decoder's last layer for the original states, which is the training target of codes. With a voice
augmentation, the encoder's states are those of changed speech, and the decoder's those of the
original: the words are the same, the voice and the room are not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from zipfile import BadZipFile

import numpy as np
import torch

from voicenym.corpus.recording import RATE
from voicenym.errors import CorpusError, DependencyError, VoicenymError
from voicenym.nets.words.whisper import STATE, WINDOW
from voicenym.nets.words.whisper_published import Published
from voicenym.private import private_folder, write_private
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
MOST_TOKENS = 400
"""Tokens of a window's text at most; the decoder has 448 positions."""

FILE_NAMES = {"inputs": "heard", "targets": "taught"}
"""Names of arrays in files, where they differ from the fields of :class:`Window`."""


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
    """

    shortest: float = 4.0
    longest: float = 28.0
    single: float = 0.2
    rounds: int = 1
    seed: int = 0


class Window(NamedTuple):
    """A training window.

    Args:
        inputs: states of the input ``[state, size]`` float16, the bottleneck's input.
        states: the same of the original; None where that is the same.
        tokens: ``[token]``, with the prefix and the end.
        targets: ``[token, width]`` float16, the decoder's last layer on the original states, for
            every token but the last.
        prefix: tokens of the prefix.
    """

    inputs: np.ndarray
    states: np.ndarray | None
    tokens: np.ndarray
    targets: np.ndarray
    prefix: int


class Tokenizer:
    """Texts to Whisper's tokens and back.

    Args:
        path: ``tokenizer.json``.

    Raises:
        DependencyError: tokenizers is not installed.
        VoicenymError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise DependencyError(
                "Whisper's tokens: pip install 'voicenym[recognisers]'"
            ) from error
        try:
            self._inner: Any = tokenizers.Tokenizer.from_str(path.read_text("utf-8"))
        except Exception as error:  # of the tokenizers library, which has no class of its own
            raise VoicenymError(
                f"{path}: cannot be read ({error}); it comes with Whisper"
            ) from error

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, without prefix and end."""
        return list(self._inner.encode(f" {text.strip()}", add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._inner.decode(list(tokens))).strip()


def sentence(text: str) -> str:
    """A transcript in capitals as Whisper would write it: a sentence; other texts as they are."""
    text = " ".join(text.split())
    if not text or text != text.upper():
        return text
    words = ["I" + w[1:] if w == "i" or w.startswith("i'") else w for w in text.lower().split()]
    joined = " ".join(words)
    return joined[0].upper() + joined[1:] + ("" if joined[-1] in ".!?" else ".")


def pieces(
    speech: Sequence[Utterance],
    whisper: Published,
    folder: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[Piece]:
    """Recordings with their texts; without a text, with Whisper's transcript, which is kept.

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
                _kept(path, tokenizer.decode(written).encode())
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
    windows: list[list[Piece]] = []
    for start in range(0, len(all_pieces), BLOCK):
        some = all_pieces[start : start + BLOCK]
        for number in range(how.rounds):
            windows += _round(some, how, np.random.default_rng((how.seed, start, number)))
    return windows


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


class StateFiles:
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

    def __call__(
        self, windows: Sequence[Sequence[Piece]], say: Callable[[str], None] = lambda text: None
    ) -> list[Path]:
        """Files of windows, in their order; existing files are reused.

        Raises:
            VoicenymError: they cannot be kept.
        """
        paths = []
        for done, window in enumerate(windows):
            path = self.path(window)
            if not path.is_file():
                keep(path, self.analysed(window))
            paths.append(path)
            if (done + 1) % 100 == 0:
                say(f"{done + 1} of {len(windows)} windows analysed")
        return paths

    @torch.inference_mode()
    def analysed(self, window: Sequence[Piece]) -> Window:
        """One window."""
        how = self._whisper.writing
        number = int.from_bytes(bytes.fromhex(self.path(window).stem[:12]), "big")
        rng = np.random.default_rng((self._seed, number))
        original, changed = joined(window, self._change, rng, self._network.sizes.states * STATE)
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


def joined(
    window: Sequence[Piece],
    change: Change | None,
    rng: np.random.Generator,
    most: int = WINDOW,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Recordings one after the other ``[time]``, as they are and changed; ``most`` samples."""
    clean: list[np.ndarray] = []
    other: list[np.ndarray] = []
    for i, piece in enumerate(window):
        samples = piece.speech.samples()
        loud = float(np.sqrt(np.mean(samples**2))) or 1.0
        gain = LEVEL / loud * 10.0 ** (rng.uniform(-GAIN, GAIN) / 20.0)
        if i:
            pause = round(rng.uniform(*PAUSE) * RATE)
            noise = (FLOOR * rng.standard_normal(pause)).astype(np.float32)
            clean.append(noise)
            other.append(noise)
        clean.append(np.clip(samples * gain, -1.0, 1.0).astype(np.float32))
        if change is not None:
            other.append(change(clean[-1], rng))
    original = np.concatenate(clean)[:most]
    return original, None if change is None else np.concatenate(other)[:most]


def keep(path: Path, window: Window) -> None:
    """Keep a window in a file, whole or not at all.

    Raises:
        VoicenymError: it cannot be written.
    """
    import io

    buffer = io.BytesIO()
    arrays: dict[str, Any] = {**window._asdict(), "prefix": np.array(window.prefix)}
    named = {FILE_NAMES.get(name, name): value for name, value in arrays.items()}
    np.savez(buffer, **{name: value for name, value in named.items() if value is not None})
    _kept(path, buffer.getvalue())


def kept(path: Path) -> Window:
    """Read a file of :func:`keep`.

    Raises:
        VoicenymError: it cannot be read.
    """
    found = _read(path, tuple(FILE_NAMES.get(name, name) for name in Window._fields))
    return Window(
        found[FILE_NAMES["inputs"]],
        found.get("states"),
        found["tokens"],
        found[FILE_NAMES["targets"]],
        int(found["prefix"]),
    )


def text_of(path: Path) -> np.ndarray:
    """The tokens alone of what :func:`keep` wrote.

    Raises:
        VoicenymError: as :func:`kept`.
    """
    return _read(path, ("tokens",))["tokens"]


def _read(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            # only augmented windows have states of the original
            return {name: file[name] for name in names if name in file.files or name != "states"}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise VoicenymError(f"{path}: damaged ({error}); delete it and run again") from error


def _kept(path: Path, content: bytes) -> None:
    try:
        write_private(path, content)
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot keep states here ({error.strerror}); free some space, or "
            "choose another folder"
        ) from error
