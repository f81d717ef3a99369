"""Target codes of native readings for recordings of the same texts.

The encoder of the start reads codes of a recording and of a native voice that reads its text; the
reading's codes, brought to the time axis of the recording
(:mod:`voicenym.training.content.native_codes.reading_alignment`), are what another encoder shall
give for the recording. All depends on the recordings and the start alone and is kept in files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.metrics.words.word_error_rate import normalise
from voicenym.nets.words.word_codes.codes_and_states import codes_and_states
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.private import private_folder
from voicenym.training.content.native_codes.reading_alignment import (
    aligned,
    features,
    native_codes,
    quiet,
)
from voicenym.training.content.word_codes.word_state_dataset import arrays_in, keep_arrays
from voicenym.training.speech.speech_cache import Utterance

UNKNOWN = -1
"""A code that is not known: that of the start's encoder is taken."""


class NativeTarget(NamedTuple):
    """A recording and its reading in codes, on the time axis of the recording.

    Args:
        own: codes of the recording, ``[code]``.
        native: codes of the aligned reading, ``[code]``.
        silent: whether a code of the recording is silence, ``[code]``.
        cost: of the alignment, see
            :class:`~voicenym.training.content.native_codes.reading_alignment.Alignment`.
    """

    own: np.ndarray
    native: np.ndarray
    silent: np.ndarray
    cost: float

    def codes(self, silence: int) -> np.ndarray:
        """Target codes ``[code]``, with the code ``silence`` where the recording is silent."""
        return np.where(self.silent, silence, self.native)


def matched(
    recordings: Iterable[Recording], readings: Iterable[Recording]
) -> dict[Recording, Recording]:
    """The reading of each recording that has one: the first, by name, of the same words.

    Raises:
        CorpusError: no reading has the words of a recording.
    """
    by_text: dict[str, Recording] = {}
    for reading in sorted(readings):
        by_text.setdefault(normalise(reading.text), reading)
    by_text.pop("", None)
    pairs = [(one, by_text.get(normalise(one.text))) for one in recordings]
    found = {one: reading for one, reading in pairs if reading is not None}
    if not found:
        raise CorpusError(
            f"none of {len(pairs)} recordings has the text of one of {len(by_text)} readings; "
            "give recordings with texts, and readings of these texts "
            "(benchmarks/studies/corpora/read_aloud.py makes them)"
        )
    return found


class NativeTargets:
    """Recordings and their readings as codes, one file each in a folder.

    Args:
        content: Whisper's encoder and codes of one book.
        folder: readable by its owner alone, because codes are derived from speech.
    """

    def __init__(self, content: WordCodeContent, folder: Path) -> None:
        self._content = content.eval()
        self._device = next(content.parameters()).device
        self._folder = private_folder(folder, "codes of speech")
        self._identity = digest(content.codes.state_dict())
        self._read: tuple[Path, np.ndarray, np.ndarray] | None = None

    def __call__(
        self,
        pairs: Sequence[tuple[Utterance, Utterance]],
        say: Callable[[str], None] = lambda text: None,
    ) -> list[NativeTarget]:
        """Codes of recordings and of their readings; existing files are reused.

        Raises:
            VoicenymError: they cannot be kept.
        """
        found: list[NativeTarget | None] = [None] * len(pairs)
        # many speakers say one text: by readings, each of which is analysed once
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1].path)
        for done, i in enumerate(order):
            path = self._path(*pairs[i])
            if not path.is_file():
                made = self.analysed(*pairs[i])
                arrays = {name: np.asarray(value) for name, value in made._asdict().items()}
                keep_arrays(path, arrays)
            arrays = arrays_in(path, NativeTarget._fields)
            found[i] = NativeTarget(
                arrays["own"], arrays["native"], arrays["silent"], float(arrays["cost"])
            )
            if (done + 1) % 500 == 0:
                say(f"{done + 1} of {len(pairs)} recordings aligned with readings")
        return [one for one in found if one is not None]

    def analysed(self, speech: Utterance, reading: Utterance) -> NativeTarget:
        """One recording with its reading."""
        if self._read is None or self._read[0] != reading.path:
            self._read = (reading.path, *self._units(reading.samples()))
        _, known, read = self._read
        samples = speech.samples()
        own, directions = self._units(samples)
        silent = quiet(samples, self._content.hop)
        places, cost = aligned(directions, read)
        native = native_codes(places, known, np.zeros_like(silent), 0)
        own = own[np.minimum(np.arange(len(silent)), len(own) - 1)]
        return NativeTarget(own.astype(np.int16), native.astype(np.int16), silent, cost)

    def _units(self, samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Codes ``[code]`` and :func:`features` of the encoder's last layer."""
        read = codes_and_states(self._content, torch.from_numpy(samples).to(self._device))
        every = self._content.codes.sizes.every
        return read.codes[:, 0].numpy(), features(read.states[-1].numpy(), every)

    def _path(self, speech: Utterance, reading: Utterance) -> Path:
        parts = "\n".join([self._identity, speech.path.stem, reading.path.stem])
        return self._folder / f"{hashlib.sha256(parts.encode()).hexdigest()[:32]}.target.npz"


def usual_silence(targets: Sequence[NativeTarget]) -> int:
    """The code that the start's encoder gives most often where recordings are silent; 0 where they
    never are.
    """
    codes = [target.own[target.silent] for target in targets]
    counts = np.bincount(np.concatenate([np.zeros(0, np.int64), *codes]).astype(np.int64))
    return int(counts.argmax()) if len(counts) else 0


def digest(state: Mapping[str, torch.Tensor]) -> str:
    """Names weights: equal names mean equal weights."""
    found = hashlib.sha256()
    for name in sorted(state):
        found.update(name.encode())
        found.update(state[name].detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()
