"""The recipe of i-vectors: background model, statistics, total variability.

Nobody's name is needed for these; who compares i-vectors (LDA, PLDA) learns that from
:class:`TrainingRecord`'s vectors and speakers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import VoicenymError
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.total_variability_em import ITERATIONS, Statistics, fit
from voicenym.training.speakers import train_ubm as background
from voicenym.training.speakers.row_file import RowFile
from voicenym.training.speakers.train_ubm import BackgroundConfig, Heard, Say, Spoken

RECORDINGS_PER_NUMBER = 16
"""Recordings that each number of an i-vector is learnt from."""
MOST_NUMBERS = 400
"""Of Kaldi's recipes; from 6,400 recordings on."""
AT_ONCE = 256
"""Recordings whose statistics are in memory together."""


@dataclass(frozen=True)
class IVectorConfig(BackgroundConfig):
    """How i-vectors are trained.

    Args:
        rank: numbers in an i-vector; 0 for :func:`rank_for` the data.
        variability_iterations: of expectation maximisation of the total variability model.
        piece: seconds of speech; a recording with twice as much or more is cut into pieces that
            are learnt from like recordings. 0 cuts nothing.

    Raises:
        VoicenymError: a value that makes no sense.
    """

    rank: int = 0
    variability_iterations: int = ITERATIONS
    piece: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rank < 0 or self.variability_iterations < 1 or self.piece < 0.0:
            raise VoicenymError(
                "rank and piece must not be negative, variability_iterations 1 at least"
            )


@dataclass(frozen=True)
class TrainingRecord:
    """What training found.

    Args:
        background: features, background model and total variability.
        vectors: i-vectors of what was learnt from, ``[n, r]`` float64.
        speakers: who speaks in each, ``[n]``.
    """

    background: Background
    vectors: np.ndarray
    speakers: tuple[str, ...]


def rank_for(recordings: int) -> int:
    """Numbers in an i-vector: a number for every 16 recordings, 2 to 400.

    Args:
        recordings: that are learnt from.
    """
    return max(2, min(MOST_NUMBERS, recordings // RECORDINGS_PER_NUMBER))


def train(
    recordings: Sequence[Spoken],
    folder: Path,
    config: IVectorConfig | None = None,
    say: Say = lambda text: None,
    workers: int = 1,
    left_out: LeftOut = STRICT,
) -> TrainingRecord:
    """Learn to extract i-vectors, and save that as ``config.json`` and ``model.safetensors``.

    Memory holds the frames that the background model is learnt from
    (:data:`~voicenym.training.speakers.train_ubm.LEARNT_PER_COMPONENT` a component), never the
    whole corpus; frames and statistics lie in files without names in the folder until it ends.

    Args:
        recordings: to learn from.
        folder: for the model.
        config: how.
        say: told what is being done.
        workers: processes that listen.
        left_out: as of :func:`voicenym.training.speakers.train_ubm.collect_frames`.

    Raises:
        VoicenymError: no speech, too little of it, one recording only, or a folder that cannot be
            written.
    """
    config = config or IVectorConfig()
    with RowFile(folder, config.cepstra.dimension) as frames:
        heard = background.collect_frames(
            recordings, config.cepstra, frames, say, workers, left_out
        )
        pieces = [piece for one in heard for piece in cut(one, round(100 * config.piece))]
        if len(pieces) < 2:
            raise VoicenymError(
                "one recording with speech: i-vectors tell recordings apart; add others"
            )
        base = background.learn(frames, config, say)
        mixture = base.mixture
        width = mixture.components * (1 + mixture.dimension)
        with RowFile(folder, width) as statistics:
            squares = mixture.no_squares()
            for piece in pieces:
                part = frames.rows(piece.start, piece.stop)
                counts, sums = mixture.statistics(part, squares)
                statistics.add(torch.cat([counts, sums.flatten()])[None])
            stored = _Stored(statistics, mixture.components)
            model, _ = fit(
                stored,
                squares,
                mixture,
                config.rank or rank_for(len(pieces)),
                iterations=config.variability_iterations,
                seed=config.seed,
                say=say,
            )
            vectors = torch.cat([model.ivectors(*some) for some in stored])
    learnt = replace(base, variability=model)
    background.store(learnt, folder, heard)
    return TrainingRecord(learnt, vectors.cpu().numpy(), tuple(piece.speaker for piece in pieces))


def cut(heard: Heard, frames: int) -> list[Heard]:
    """Equal pieces of so many frames of speech or more; the whole where there are not two."""
    length = heard.stop - heard.start
    count = max(1, length // frames) if frames else 1
    ends = [heard.start + length * i // count for i in range(count + 1)]
    return [Heard(heard.speaker, a, b) for a, b in pairwise(ends)]


class _Stored:
    """Statistics on disk, a part at a time, as often as they are wanted."""

    def __init__(self, pile: RowFile, components: int) -> None:
        self._pile, self._components = pile, components

    def __iter__(self) -> Iterator[Statistics]:
        for start in range(0, self._pile.count, AT_ONCE):
            rows = self._pile.rows(start, start + AT_ONCE)
            counts, sums = rows[:, : self._components], rows[:, self._components :]
            yield counts, sums.unflatten(1, (self._components, -1))
