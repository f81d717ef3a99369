"""Transforms of recordings: anonymization and other changes of samples.

A :class:`Transform` is a sequence of steps. Its ``identity`` names the result for a recording
without revealing a key; caches use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from voicenym.anonymizer import Anonymizer, load
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.recordings import FILES
from voicenym.errors import CorpusError
from voicenym.pseudonym import FIRST_REVISION, Key, Pseudonym

if TYPE_CHECKING:
    from voicenym.dsp.analysis_memory import AnalysisMemory

EVERYBODY = "everybody"
LOWEST_OF_WOMEN = 160.0
"""Median F0 in Hz from which a voice counts as a woman's: the geometric mean of 120 and 210 Hz,
usual ones of men and of women."""
NO_SEX = "the sex of {} is unknown; give it in the manifest (column gender) or in spk2gender"
DRAWS = 64
"""Pseudonyms among which a voice of the speaker's sex is searched."""
File = Path | Recording
"""An anonymized file, or a recording that is a part of one."""


class Step(Protocol):
    """One operation on the samples of a recording."""

    @property
    def description(self) -> str:
        """Short description."""

    def identity(self, recording: Recording) -> str:
        """Name of the result for this recording; equal names mean equal results."""

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        """``[time]`` float32 at 16 kHz in and out."""


@lru_cache(maxsize=256)
def _loaded(system: str, parameters: tuple[tuple[str, Any], ...]) -> Anonymizer:
    return load(system, **dict(parameters))


@lru_cache(maxsize=1)
def _analyses() -> AnalysisMemory:
    """Analyses of the recordings that this process anonymizes, for further keys."""
    from voicenym.dsp.analysis_memory import AnalysisMemory

    return AnalysisMemory()


@dataclass(frozen=True)
class Anonymize:
    """A system with a key.

    Args:
        system: its name.
        key: from which the voices are drawn.
        per: ``speaker``, ``utterance``, or ``everybody``: one voice for all recordings.
        parameters: of the system, as pairs.
        voice_of: recording whose voice all recordings get; None for each its own voice.
        same_sex: whether a speaker's voice is the first one drawn that is of the speaker's sex, by
            its median F0 (:meth:`voicenym.anonymizer.Anonymizer.median_f0`). One voice for all
            recordings has no such rule.
    """

    system: str
    key: Key
    per: str = "speaker"
    parameters: tuple[tuple[str, Any], ...] = ()
    voice_of: Recording | None = None
    same_sex: bool = False

    @property
    def description(self) -> str:
        return self.system

    def identity(self, recording: Recording) -> str:
        whose = self.voice_of or recording
        label = self._label(whose)
        who = {
            "speaker": label,
            "utterance": f"{label}\0{whose.name}",
            EVERYBODY: "",
        }[self.per]
        voice = self.key.tag("cache", f"{self.per}\0{who}")[:32]
        system = _loaded(self.system, self.parameters)
        revision = system.revision_for(self.key)
        version = [system.version] if system.version else []
        if revision > FIRST_REVISION:  # caches of the first revision stay valid
            version.append(f"revision {revision}")
        return " ".join([self.system, str(self.parameters), voice, *version])

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        return self.without_key([recording])(samples, recording)

    def without_key(self, recordings: Sequence[Recording]) -> Voices:
        """The same for these recordings alone, with their pseudonyms and without the key."""
        found = {recording.name: self.pseudonym(recording) for recording in recordings}
        return Voices(self.system, self.parameters, found)

    def pseudonym(self, recording: Recording) -> Pseudonym:
        """Pseudonym that a recording is anonymized with."""
        whose = self.voice_of or recording
        return self._pseudonym(self._label(whose), whose)

    def _pseudonym(self, label: str, whose: Recording) -> Pseudonym:
        return self.key.pseudonym(label, whose.name if self.per == "utterance" else None)

    def _label(self, whose: Recording) -> str:
        """Label from which the key derives a recording's pseudonym: the speaker, or, for a voice of
        the speaker's sex, the speaker and the number of the draw.

        Raises:
            CorpusError: the speaker's sex is unknown, or no voice is of it.
        """
        if self.per == EVERYBODY:
            return EVERYBODY
        if not self.same_sex:
            return whose.speaker
        if not whose.sex:
            raise CorpusError(f"same-sex targets: {NO_SEX.format(whose.speaker)}")
        system = _loaded(self.system, self.parameters)
        for draw in range(DRAWS):
            label = f"{whose.speaker}\0draw {draw}" if draw else whose.speaker
            f0 = system.median_f0(system.drawn(self._pseudonym(label, whose)))
            if f0 is not None and ("f" if f0 >= LOWEST_OF_WOMEN else "m") == whose.sex:
                return label
        raise CorpusError(
            f"same-sex targets: none of {DRAWS} voices of {self.system} is of sex {whose.sex!r}; "
            "widen the limits of its pitch, or draw random targets"
        )


@dataclass(frozen=True)
class Voices:
    """A system with the pseudonyms of some recordings: what a worker gets in place of a key.

    Args:
        system: its name.
        parameters: of the system, as pairs.
        pseudonyms: by the recordings' names.
    """

    system: str
    parameters: tuple[tuple[str, Any], ...]
    pseudonyms: Mapping[str, Pseudonym] = field(hash=False)

    @property
    def description(self) -> str:
        return self.system

    def identity(self, recording: Recording) -> str:
        raise NotImplementedError("the key names the results: ask Anonymize")

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        import torch

        from voicenym.audio import Audio
        from voicenym.dsp.analysis_memory import keeping_analyses

        system = _loaded(self.system, self.parameters)
        audio = Audio(torch.from_numpy(samples), RATE)
        with keeping_analyses(_analyses()):  # attackers try many keys on a recording
            return system(audio, self.pseudonyms[recording.name]).samples.numpy()


@dataclass(frozen=True)
class Undo:
    """A system with fixed parameters that approximately inverts another one, without a key."""

    system: str
    parameters: tuple[tuple[str, Any], ...]

    @property
    def description(self) -> str:
        return f"undoing {self.system}"

    def identity(self, recording: Recording) -> str:
        return f"undo {self.system} {self.parameters}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        return Anonymize(self.system, Key(bytes(32)), EVERYBODY, self.parameters)(
            samples, recording
        )


@dataclass(frozen=True)
class OtherFiles:
    """Replaces originals by files that another anonymizer wrote.

    Args:
        files: by the recordings' names.
    """

    files: Mapping[str, File] = field(hash=False)

    @property
    def description(self) -> str:
        return FILES

    def _other(self, recording: Recording) -> Recording:
        if recording.name not in self.files:
            raise CorpusError(f"{recording.name}: no anonymized file; anonymize it or leave it out")
        file = self.files[recording.name]
        if isinstance(file, Recording):
            return file
        return Recording(recording.name, recording.speaker, file)

    def identity(self, recording: Recording) -> str:
        return f"file {self._other(recording).digest()}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        return self._other(recording).samples()


@dataclass(frozen=True)
class Transform:
    """A sequence of steps; the empty one leaves recordings unchanged.

    Args:
        steps: in order.
    """

    steps: tuple[Step, ...] = ()

    def then(self, *steps: Step) -> Transform:
        """The transform followed by more steps."""
        return Transform((*self.steps, *steps))

    def identity(self, recording: Recording) -> str:
        return " | ".join([recording.digest(), *(step.identity(recording) for step in self.steps)])

    @property
    def description(self) -> str:
        """Description of the steps, for lists of failures; empty for originals."""
        return ", then ".join(step.description for step in self.steps)

    def without_key(self, recordings: Sequence[Recording]) -> Transform:
        """The same for these recordings alone, for a worker, which gets no key."""
        if not any(isinstance(step, Anonymize) for step in self.steps):
            return self
        return replace(
            self,
            steps=tuple(
                step.without_key(recordings) if isinstance(step, Anonymize) else step
                for step in self.steps
            ),
        )

    def __call__(self, recording: Recording) -> np.ndarray:
        """Samples ``[time]`` float32 at 16 kHz."""
        samples = recording.samples()
        for step in self.steps:
            samples = step(samples, recording)
        return samples


ORIGINAL = Transform()
