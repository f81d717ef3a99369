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
from voicenym.corpus.worker_pool import Death, Pool
from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import write
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.gaussian_mixture_em import fit
from voicenym.training.speakers.row_file import RowFile

FRAMES_PER_COMPONENT = 10_000
"""Speech that a component is worth, 100 s: a laptop's corpus of three hours gives 64."""
MOST_COMPONENTS = 2_048
"""Of Kaldi's recipes for some 100,000 recordings; from 57 hours of speech on."""
FRAMES_PER_COVARIANCE = 10
"""Frames of a component for each number in its covariance matrix, from which one is taken."""
LEARNT_PER_COMPONENT = 4_000
"""Frames that a component is learnt from at most; more would not move it, and take memory."""
LEAST_FRAMES = 30
"""Frames of speech below which a recording is left out, 0.3 s."""
KINDS = ("full", "diagonal")

Say = Callable[[str], None]


class Spoken(Protocol):
    """A :class:`~voicenym.corpus.recording.Recording`, or an utterance of the speech cache."""

    @property
    def speaker(self) -> str:
        """Who speaks."""

    def samples(self) -> np.ndarray:
        """Mono float32 ``[time]`` at 16 kHz."""


@dataclass(frozen=True)
class BackgroundConfig:
    """How a background model is trained.

    Args:
        cepstra: features.
        components: of the mixture; 0 for :func:`components_for` the data.
        covariances: ``full`` or ``diagonal``; empty for what the data allow.
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
class Heard:
    """Where the speech of a recording lies in a pile of frames.

    Args:
        speaker: who speaks.
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
    """Whether there is enough speech for covariance matrices (:data:`FRAMES_PER_COVARIANCE`)."""
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
    """Learn a background model and save it, for GMM-UBM verification.

    Args:
        recordings: to learn from.
        folder: for ``config.json`` and ``model.safetensors``.
        config: how.
        say: told what is being done.
        workers: processes that listen.
        left_out: as of :func:`hear`.

    Raises:
        VoicenymError: no speech, too little of it, or a folder that cannot be written.
    """
    config = config or BackgroundConfig()
    with RowFile(folder, config.cepstra.dimension) as frames:
        heard = collect_frames(recordings, config.cepstra, frames, say, workers, left_out)
        background = learn(frames, config, say)
    store(background, folder, heard)
    return background


def collect_frames(
    recordings: Sequence[Spoken],
    cepstra: Cepstra,
    frames: RowFile,
    say: Say,
    workers: int = 1,
    left_out: LeftOut = STRICT,
) -> list[Heard]:
    """Put the speech of recordings on a pile; those in which hardly anybody speaks are left out.

    Args:
        recordings: to listen to.
        cepstra: features.
        frames: for the speech.
        say: receives lines of progress.
        workers: processes.
        left_out: told of recordings that cannot be heard; the default raises at the first one.

    Raises:
        VoicenymError: nobody speaks in any recording.
    """
    found, failed = [], 0
    features = _features([(recording, cepstra) for recording in recordings], workers)
    for number, (recording, part) in enumerate(zip(recordings, features, strict=True), 1):
        if isinstance(part, str):
            failed += 1
            left_out.add(_named(recording), part)
        elif len(part) >= LEAST_FRAMES:
            frames.add(torch.from_numpy(part))
            found.append(Heard(recording.speaker, frames.count - len(part), frames.count))
        if number % 1000 == 0:
            say(f"{number} of {len(recordings)} recordings analysed")
    if not found:
        raise VoicenymError(
            f"nobody speaks in any of the {len(recordings) - failed} readable recordings for "
            f"{LEAST_FRAMES / 100:g} s; give recordings of speech"
        )
    silent = len(recordings) - failed - len(found)
    left = f"; {silent} recordings hold less than {LEAST_FRAMES / 100:g} s of it" if silent else ""
    say(f"{frames.count / 360_000:.2f} hours of speech in {len(found)} recordings{left}")
    return found


Work = tuple[Spoken, Cepstra]


def _named(recording: Spoken) -> str:
    """Of a recording, or of an utterance in the speech cache."""
    one: Any = getattr(recording, "recording", recording)
    return str(getattr(one, "name", "a recording"))


def _features(work: list[Work], workers: int) -> Iterator[np.ndarray | str]:
    """Features of each recording, or why there are none."""
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
    """A background model of frames that were heard, evenly chosen where they are very many.

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


def store(background: Background, folder: Path, heard: Sequence[Heard]) -> None:
    """Write a model and its card with :mod:`voicenym.nets.checkpoint`."""
    card = {
        "recordings": len(heard),
        "speakers": len({one.speaker for one in heard}),
        "hours of speech": round(sum(one.stop - one.start for one in heard) / 360_000, 3),
    }
    write(folder, background.tensors(), {**background.settings(), "card": card})
