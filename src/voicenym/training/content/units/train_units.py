"""Training of units: clusters of frames of features, by mini-batch k-means.

Hsu et al. (TASLP 2021, section IV.B) and van Niekerk et al. (ICASSP 2022): 100 clusters. Some
frames of every utterance are stored in the folder, so that a resumed run extracts nothing twice.
Only their owner can read them, because speech can be rebuilt from them.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.errors import CorpusError, DependencyError, VoicenymError
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.units import Units
from voicenym.private import open_private, private_folder, replacing
from voicenym.training.speech.speech_cache import Utterance

FRAMES = "frames"
LEAST_PER_UNIT = 4
"""Least number of frames per unit for clustering."""


@dataclass(frozen=True)
class UnitsConfig:
    """Configuration of the training.

    Args:
        units: clusters.
        frames: largest number of clustered frames, as many of each utterance.
        batch: frames in a step of k-means.
        restarts: number of initialisations, of which the best is used.
        seed: of all random draws.
    """

    units: int = 100
    frames: int = 400_000
    batch: int = 10_000
    restarts: int = 3
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """Result: units and their quality.

    Args:
        units: clusters.
        frames: number of clustered frames.
        utterances: number of their utterances.
        explained: share of the variance between clusters.
        perplexity: of the clusters' shares, the effective number of units.
    """

    units: Units
    frames: int
    utterances: int
    explained: float
    perplexity: float


def train(
    features: Content,
    source: Mapping[str, Any],
    speech: Sequence[Utterance],
    config: UnitsConfig,
    folder: Path,
    *,
    seconds: float | None = None,
    say: Callable[[str], None] = lambda text: None,
    clock: Callable[[], float] = time.monotonic,
) -> Found:
    """Finds units by clustering.

    Args:
        features: the feature extractor.
        source: what they are, fit for JSON; kept frames of another source are not used.
        speech: training utterances.
        config: of the training.
        folder: where frames are kept.
        seconds: time limit of the feature extraction; features computed by then are clustered.
        say: receives lines of progress.
        clock: in seconds.

    Raises:
        CorpusError: fewer frames than units.
        DependencyError: scikit-learn is not installed.
        VoicenymError: frames cannot be kept.
    """
    frames, analysed = _frames_of(features, source, speech, config, folder, seconds, say, clock)
    if len(frames) < LEAST_PER_UNIT * config.units:
        raise CorpusError(
            f"{len(frames)} frames are too few for {config.units} units; give more speech, more "
            "time, or look for fewer units"
        )
    say(f"clustering {len(frames)} frames of {analysed} utterances")
    units = Units(_centres(frames, config), source)
    rows = torch.from_numpy(frames).float()
    numbers = torch.cat([units(part) for part in rows.split(100_000)])
    shares = torch.bincount(numbers, minlength=len(units)).double() / len(rows)
    spread = (rows - rows.mean(0)).square().sum(1).mean()
    within = sum(float(units.error(part)) * len(part) for part in rows.split(100_000)) / len(rows)
    return Found(
        units,
        len(frames),
        analysed,
        1.0 - within / max(float(spread), 1e-30),
        float(torch.special.entr(shares).sum().exp()),
    )


def labels(features: Content, units: Units, utterance: Utterance, folder: Path) -> np.ndarray:
    """Units of an utterance's frames ``[frame]`` int16, cached in a folder.

    Raises:
        VoicenymError: they cannot be kept.
    """
    if units.size != features.size:
        raise VoicenymError(
            f"the units are clusters of {units.size} numbers, and {features.kind} gives "
            f"{features.size}: give the features that they were found in"
        )
    path = folder / f"{utterance.path.stem}.npy"
    if not path.is_file():
        with torch.inference_mode():
            found = units(extracted(features, utterance)).cpu().numpy().astype(np.int16)
        keep(path, found)
    return np.load(path, allow_pickle=False)


def identity(source: Mapping[str, Any]) -> str:
    """Short name of features, equal only for equal sources."""
    text = json.dumps(dict(source), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _frames_of(
    features: Content,
    source: Mapping[str, Any],
    speech: Sequence[Utterance],
    config: UnitsConfig,
    folder: Path,
    seconds: float | None,
    say: Callable[[str], None],
    clock: Callable[[], float],
) -> tuple[np.ndarray, int]:
    """Frames ``[frame, size]`` of utterances, and the number of these."""
    each = max(1, config.frames // max(1, len(speech)))
    place = folder / FRAMES / identity({**source, "each": each, "seed": config.seed})
    began, found = clock(), []
    # In random order, so that a time limit does not exclude the last speakers.
    for done, i in enumerate(np.random.default_rng((config.seed, 31)).permutation(len(speech))):
        path = place / f"{speech[i].path.stem}.npy"
        if not path.is_file():
            if seconds is not None and done and clock() - began > seconds:
                say(f"the time is over: {done} of {len(speech)} utterances were analysed")
                break
            frames = extracted(features, speech[i]).cpu().numpy()
            rng = np.random.default_rng((config.seed, 32, int(i)))
            keep(path, frames[rng.permutation(len(frames))[:each]].astype(np.float16))
        found.append(np.load(path, allow_pickle=False))
        if (done + 1) % 500 == 0:
            say(f"{done + 1} of {len(speech)} utterances analysed")
    if not found:
        return np.zeros((0, features.size), np.float32), 0
    return np.concatenate(found).astype(np.float32), len(found)


def extracted(features: Content, utterance: Utterance) -> torch.Tensor:
    """Frames ``[frame, size]`` of an utterance, on the device of the features."""
    known = [*features.parameters(), *features.buffers(), torch.zeros(0)]
    return features.extract(torch.from_numpy(utterance.samples()).to(known[0].device))


def keep(path: Path, array: np.ndarray) -> None:
    """Writes an array atomically to a folder that only its owner can read.

    Raises:
        VoicenymError: it cannot be written.
    """
    private_folder(path.parent, "features of speech")
    try:
        with replacing(path) as partial, open_private(partial, "xb") as file:
            np.save(file, array, allow_pickle=False)
    except OSError as error:
        raise VoicenymError(
            f"{path.parent}: cannot cache features here ({error.strerror}); free some space, or "
            "choose another folder"
        ) from error


def _centres(frames: np.ndarray, config: UnitsConfig) -> torch.Tensor:
    try:
        from sklearn.cluster import MiniBatchKMeans
    except ImportError as error:
        raise DependencyError("units: pip install 'voicenym[train]'") from error
    found = MiniBatchKMeans(
        config.units,
        batch_size=min(config.batch, len(frames)),
        n_init=config.restarts,
        random_state=config.seed,
    ).fit(frames)
    return torch.from_numpy(np.asarray(found.cluster_centers_, dtype=np.float32))
