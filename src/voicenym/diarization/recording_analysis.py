"""What is measured in a recording before its speakers are told apart: speech, overlaps, vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from voicenym.diarization.speech_regions import SPEECH, RegionRule, speech_regions
from voicenym.diarization.window_vectors import HOP, WINDOW, window_vectors, windows_of
from voicenym.kept_work import KeptWork
from voicenym.nets.activity.overlap_detector import OverlapProbabilities
from voicenym.nets.activity.silero import SpeechProbabilities
from voicenym.nets.speakers.speaker_encoder import Encoder

STAGES = ("finding speech", "comparing and grouping voices")
"""Of the two passes over a recording."""

Source = Callable[[], Iterable[torch.Tensor]]
"""Opens a signal from its beginning: blocks ``[time]`` at 16 kHz."""


@dataclass(frozen=True)
class Analysis:
    """What is measured in a recording before its windows are clustered.

    Args:
        seconds: length of the recording.
        probabilities: of speech, ``[chunk]``.
        regions: of speech, ``[region, (start, end)]`` in seconds.
        windows: ``[window, (start, end)]`` in seconds.
        vectors: of unit length, ``[window, d]``.
        overlap: probabilities that several people speak, ``[frame]`` of 20 ms.
    """

    seconds: float
    probabilities: npt.NDArray[np.float32]
    regions: npt.NDArray[np.float64]
    windows: npt.NDArray[np.float64]
    vectors: npt.NDArray[np.float32]
    overlap: npt.NDArray[np.float32]


def analyse(
    source: Source,
    encoder: Encoder,
    rule: RegionRule = SPEECH,
    *,
    stage: Callable[[str], None] = lambda text: None,
    kept: KeptWork | None = None,
) -> Analysis:
    """Find speech and embed its windows, in two passes and bounded memory.

    Args:
        source: the signal.
        encoder: of speakers, in evaluation mode.
        rule: when speech begins and ends.
        stage: called with the name of each pass.
        kept: what an interrupted run found, and to which is added what this one does.
    """
    stage(STAGES[0])
    samples, probabilities, overlap = _activity(source, kept)
    seconds = samples / encoder.RATE
    regions = speech_regions(probabilities, seconds, rule)
    windows = windows_of(regions, WINDOW, HOP)
    stage(STAGES[1])
    vectors = window_vectors(source(), windows, encoder, kept)
    return Analysis(seconds, probabilities, regions, windows, vectors, overlap)


def _activity(
    source: Source, kept: KeptWork | None
) -> tuple[int, npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Samples of a signal, and its probabilities of speech and of overlap: the first pass."""
    if kept is not None and (part := kept.take(STAGES[0])) is not None:
        both = np.frombuffer(kept.read(part.place, part.size), np.float32)
        count = int(part.facts["chunks"])
        return int(part.facts["samples"]), both[:count].copy(), both[count:].copy()
    detector, crowd, samples = SpeechProbabilities(), OverlapProbabilities(), 0
    for block in source():
        detector.push(block)
        crowd.push(block)
        samples += len(block)
    probabilities, overlap = detector.result().numpy(), crowd.result().numpy()
    if kept is not None:
        facts = {"samples": samples, "chunks": len(probabilities)}
        data = np.concatenate([probabilities, overlap]).astype(np.float32).tobytes()
        kept.note(STAGES[0], facts, data)
    return samples, probabilities, overlap
