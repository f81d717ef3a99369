"""Training of an i-vector extractor: background model, statistics, total variability.

It needs no speaker labels. LDA and PLDA are trained afterwards on the vectors and speakers of
:class:`TrainingRecord`.
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
from voicenym.training.speakers.train_ubm import BackgroundConfig, Say, SpeechRows, Spoken

RECORDINGS_PER_NUMBER = 16
"""Recordings per dimension of the i-vectors."""
MOST_NUMBERS = 400
"""Largest dimension, that of Kaldi's recipes; from 6,400 recordings on."""
AT_ONCE = 256
"""Number of recordings whose statistics are in memory together."""


@dataclass(frozen=True)
class IVectorConfig(BackgroundConfig):
    """Configuration of the training.

    Args:
        rank: dimension of the i-vectors; 0 for that of :func:`rank_for`.
        variability_iterations: of expectation maximisation of the total variability model.
        piece: seconds of speech; a recording of at least twice this length is cut into pieces,
            which count as recordings. 0 cuts nothing.

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
    """Result of the training.

    Args:
        background: features, background model and total variability.
        vectors: i-vectors of the training speech, ``[n, r]`` float64.
        speakers: of each vector, ``[n]``.
    """

    background: Background
    vectors: np.ndarray
    speakers: tuple[str, ...]


def rank_for(recordings: int) -> int:
    """Dimension of i-vectors: one for every 16 recordings, 2 to 400.

    Args:
        recordings: number of training recordings.
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
    """Trains an i-vector extractor, and saves it as ``config.json`` and ``model.safetensors``.

    Memory holds the training frames of the background model
    (:data:`~voicenym.training.speakers.train_ubm.LEARNT_PER_COMPONENT` a component), never the
    whole corpus; frames and statistics are in unnamed files in the folder until the training ends.

    Args:
        recordings: training speech.
        folder: for the model.
        config: of the training.
        say: receives lines of progress.
        workers: processes that compute features.
        left_out: as of :func:`voicenym.training.speakers.train_ubm.collect_frames`.

    Raises:
        VoicenymError: no speech, too little of it, one recording only, or a folder that cannot be
            written.
    """
    config = config or IVectorConfig()
    with RowFile(folder, config.cepstra.dimension) as frames:
        speech_rows = background.collect_frames(
            recordings, config.cepstra, frames, say, workers, left_out
        )
        pieces = [piece for one in speech_rows for piece in cut(one, round(100 * config.piece))]
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
    background.store(learnt, folder, speech_rows)
    return TrainingRecord(learnt, vectors.cpu().numpy(), tuple(piece.speaker for piece in pieces))


def cut(speech_rows: SpeechRows, frames: int) -> list[SpeechRows]:
    """Equal pieces of at least ``frames`` frames of speech; the whole if there are not two."""
    length = speech_rows.stop - speech_rows.start
    count = max(1, length // frames) if frames else 1
    ends = [speech_rows.start + length * i // count for i in range(count + 1)]
    return [SpeechRows(speech_rows.speaker, a, b) for a, b in pairwise(ends)]


class _Stored:
    """Statistics on disk, read part by part in every iteration."""

    def __init__(self, frame_rows: RowFile, components: int) -> None:
        self._frame_rows, self._components = frame_rows, components

    def __iter__(self) -> Iterator[Statistics]:
        for start in range(0, self._frame_rows.count, AT_ONCE):
            rows = self._frame_rows.rows(start, start + AT_ONCE)
            counts, sums = rows[:, : self._components], rows[:, self._components :]
            yield counts, sums.unflatten(1, (self._components, -1))
