"""Training of universal background models (GMM-UBM).

``train`` uses recordings without speaker labels. The sizes follow the amount of data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from voicenym.corpus.skipped import STRICT, LeftOut, reason
from voicenym.corpus.workers.worker_pool import Death, Pool
from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError, counted
from voicenym.nets.checkpoint import write
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.gaussian_mixture_em import fit
from voicenym.training.speakers.row_file import RowFile

FRAMES_PER_COMPONENT = 10_000
"""Frames of speech per component, 100 s: a corpus of three hours gives 64 components."""
MOST_COMPONENTS = 2_048
"""Largest number of components, that of Kaldi's recipes; from 57 hours of speech on."""
FRAMES_PER_COVARIANCE = 10
"""Frames of a component per element of a covariance matrix, from which on matrices are used."""
LEARNT_PER_COMPONENT = 4_000
"""Largest number of training frames per component; more would need memory without an effect."""
LEAST_FRAMES = 30
"""Frames of speech below which a recording is left out, 0.3 s."""
KINDS = ("full", "diagonal")

Say = Callable[[str], None]


class Spoken(Protocol):
    """A :class:`~voicenym.corpus.recording.Recording`, or an utterance of the speech cache."""

    @property
    def speaker(self) -> str:
        """Name of the speaker."""

    def samples(self) -> np.ndarray:
        """Mono float32 ``[time]`` at 16 kHz."""


@dataclass(frozen=True)
class BackgroundConfig:
    """Configuration of the training.

    Args:
        cepstra: features.
        components: of the mixture; 0 for the number of :func:`components_for`.
        covariances: ``full`` or ``diagonal``; empty for a choice by the amount of data.
        iterations: of expectation maximisation at the full size.
        floor: least variance, as a share of that of all frames.
        seed: of every draw.
        device: to compute on, as torch names it.

    Raises:
        VoicenymError: a value that makes no sense.
    """

    cepstra: Cepstra = field(default_factory=Cepstra)
    components: int = 0
    covariances: str = ""
    iterations: int = 8
    floor: float = 0.01
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.components < 0 or self.iterations < 1 or not 0.0 < self.floor < 1.0:
            raise VoicenymError(
                "components must not be negative, iterations 1 at least, and floor between 0 and 1"
            )
        if self.covariances not in ("", *KINDS):
            raise VoicenymError(f"covariances: {' or '.join(KINDS)}, not {self.covariances!r}")


@dataclass(frozen=True)
class SpeechRows:
    """Position of a recording's speech in a file of frames.

    Args:
        speaker: of the recording.
        start, stop: rows.
    """

    speaker: str
    start: int
    stop: int


def components_for(frames: int) -> int:
    """Components of a background model: 1 to 2,048, a power of two.

    A component for every 100 s of speech (:data:`FRAMES_PER_COMPONENT`): 64 for three hours, 2,048
    from 57 hours on.

    Args:
        frames: of speech, 100 a second.
    """
    wanted = max(1.0, min(frames / FRAMES_PER_COMPONENT, MOST_COMPONENTS))
    return 1 << int(math.log2(wanted))


def full_for(frames: int, components: int, dimension: int) -> bool:
    """Whether speech suffices for covariance matrices (:data:`FRAMES_PER_COVARIANCE`)."""
    numbers = dimension * (dimension + 1) // 2
    return frames >= FRAMES_PER_COVARIANCE * numbers * components


def train(
    recordings: Sequence[Spoken],
    folder: Path,
    config: BackgroundConfig | None = None,
    say: Say = lambda text: None,
    workers: int = 1,
    left_out: LeftOut = STRICT,
) -> Background:
    """Trains a background model and saves it, for GMM-UBM verification.

    Args:
        recordings: training speech.
        folder: for ``config.json`` and ``model.safetensors``.
        config: of the training.
        say: receives lines of progress.
        workers: processes that compute features.
        left_out: as of :func:`collect_frames`.

    Raises:
        VoicenymError: no speech, too little of it, or a folder that cannot be written.
    """
    config = config or BackgroundConfig()
    with RowFile(folder, config.cepstra.dimension) as frames:
        speech_rows = collect_frames(recordings, config.cepstra, frames, say, workers, left_out)
        background = learn(frames, config, say)
    store(background, folder, speech_rows)
    return background


def collect_frames(
    recordings: Sequence[Spoken],
    cepstra: Cepstra,
    frames: RowFile,
    say: Say,
    workers: int = 1,
    left_out: LeftOut = STRICT,
) -> list[SpeechRows]:
    """Writes the speech frames of recordings to a file; recordings with little speech are left out.

    Args:
        recordings: training speech.
        cepstra: features.
        frames: for the speech.
        say: receives lines of progress.
        workers: processes.
        left_out: receives recordings that cannot be used; the default raises at the first one.

    Raises:
        VoicenymError: no recording has speech.
    """
    found, failed = [], 0
    features = _features([(recording, cepstra) for recording in recordings], workers)
    for number, (recording, part) in enumerate(zip(recordings, features, strict=True), 1):
        if isinstance(part, str):
            failed += 1
            left_out.add(_named(recording), part)
        elif len(part) >= LEAST_FRAMES:
            frames.add(torch.from_numpy(part))
            found.append(SpeechRows(recording.speaker, frames.count - len(part), frames.count))
        if number % 1000 == 0:
            say(f"{number} of {len(recordings)} recordings analysed")
    if not found:
        raise VoicenymError(
            f"no speech in any of the {len(recordings) - failed} readable recordings for "
            f"{LEAST_FRAMES / 100:g} s; give recordings of speech"
        )
    silent = len(recordings) - failed - len(found)
    left = (
        f"; {counted(silent, 'recording holds', 'recordings hold')} less than "
        f"{LEAST_FRAMES / 100:g} s of it"
        if silent
        else ""
    )
    say(f"{frames.count / 360_000:.2f} hours of speech in {counted(len(found), 'recording')}{left}")
    return found


Work = tuple[Spoken, Cepstra]


def _named(recording: Spoken) -> str:
    """Name of a recording, or of an utterance in the speech cache."""
    one: Any = getattr(recording, "recording", recording)
    return str(getattr(one, "name", "a recording"))


def _features(work: list[Work], workers: int) -> Iterator[np.ndarray | str]:
    """Features of each recording, or the reason for their absence."""
    if workers <= 1 or len(work) < 2:
        yield from map(_listen, work)
        return
    with Pool.of(_listen, workers) as pool:
        for (recording, _), found in zip(work, pool.in_order(work), strict=True):
            yield reason(found, _named(recording)) if isinstance(found, Death) else found


def _listen(work: Work) -> np.ndarray | str:
    recording, cepstra = work
    try:
        features: np.ndarray = cepstra(torch.from_numpy(recording.samples())).numpy()
    except Exception as error:
        return reason(error, _named(recording))
    return features


def learn(frames: RowFile, config: BackgroundConfig, say: Say) -> Background:
    """Background model of frames; of very many, an evenly spaced selection.

    Raises:
        VoicenymError: too few frames for so many components.
    """
    components = config.components or components_for(frames.count)
    full = full_for(frames.count, components, frames.width)
    if config.covariances:
        full = config.covariances == "full"
    step = max(1, frames.count // (LEARNT_PER_COMPONENT * max(components, 64)))
    mixture, _ = fit(
        frames.rows(step=step).to(config.device),
        components,
        full=full,
        iterations=config.iterations,
        floor=config.floor,
        seed=config.seed,
        say=say,
    )
    return Background(config.cepstra, mixture)


def store(background: Background, folder: Path, speech_rows: Sequence[SpeechRows]) -> None:
    """Writes a model and its card with :mod:`voicenym.nets.checkpoint`."""
    card = {
        "recordings": len(speech_rows),
        "speakers": len({one.speaker for one in speech_rows}),
        "hours of speech": round(sum(one.stop - one.start for one in speech_rows) / 360_000, 3),
    }
    write(folder, background.tensors(), {**background.settings(), "card": card})
