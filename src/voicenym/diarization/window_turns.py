"""Turns of speakers from the posteriors of windows, by frames of 10 ms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from voicenym.diarization.clustering.speaker_means import Posteriors, cosines_to, means_of
from voicenym.diarization.overlaps import PRECISION, second_speakers
from voicenym.diarization.recording_analysis import Analysis
from voicenym.diarization.speaker_turns import Diarization, Turn

FRAME = 0.01
"""Seconds of a frame."""
SLOPE = 14.91
"""Of the log-likelihood ratio over the cosine, for confidences (calibration of ``ecapa-small``)."""
LEAST_TURN = 0.25
"""Seconds; a shorter turn between two turns of another speaker is that speaker's."""


def turns_of(found: Analysis, posteriors: Posteriors, overlaps: bool = True) -> Diarization:
    """Turns from posteriors of windows; speakers are numbered by their first turns.

    Args:
        found: the analysis.
        posteriors: ``[window, speaker]``.
        overlaps: whether a second speaker is marked where several people speak.
    """
    labels, sure = frame_labels(found, posteriors)
    for start, end in (found.regions / FRAME).round().astype(int).tolist():
        labels[start:end] = _without_flickers(labels[start:end])
    second = second_speakers(labels, found.overlap) if overlaps else np.full_like(labels, -1)
    order = sorted(range(int(labels.max(initial=-1)) + 1), key=lambda one: _first(labels, one))
    order = [one for one in order if _first(labels, one) < len(labels)]
    turns = []
    for number, speaker in enumerate(order, 1):
        speaks = (labels == speaker) | (second == speaker)
        edges = np.flatnonzero(np.diff(speaks.view(np.int8), prepend=0, append=0))
        for first, last in edges.reshape(-1, 2).tolist():
            own = np.where(labels[first:last] == speaker, sure[first:last], PRECISION)
            confidence = round(min(1.0, max(0.0, float(own.mean()))), 2)
            end = min(last * FRAME, found.seconds)
            turns.append(Turn(first * FRAME, end, f"speaker-{number}", confidence))
    return Diarization(turns)


def _first(labels: npt.NDArray[np.int16], speaker: int) -> int:
    """First frame of a speaker; the number of frames where there is none."""
    own = labels == speaker  # not a list of all frames, which has 30 MB in ten hours
    return int(own.argmax()) if own.any() else len(labels)


def frame_labels(
    found: Analysis, posteriors: Posteriors
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.float64]]:
    """Speaker and its probability for each frame of 10 ms; -1 and 0 outside of speech.

    Args:
        found: the analysis.
        posteriors: ``[window, speaker]``.
    """
    frames = round(found.seconds / FRAME) + 1
    labels, sure = np.full(frames, -1, dtype=np.int16), np.zeros(frames)  # 36 MB in ten hours
    centres = found.windows.mean(1)
    certainty = _certainty(found.vectors, posteriors)
    first = 0
    for start, end in found.regions.tolist():
        last = first
        while last < len(centres) and found.windows[last, 0] < end:
            last += 1
        if last > first:
            a, b = round(start / FRAME), round(end / FRAME)
            times = (np.arange(a, b) + 0.5) * FRAME
            place = centres[first:last]
            share = _interpolated(times, place, posteriors[first:last])
            own = share.argmax(0)
            near = _interpolated(times, place, certainty[first:last])
            labels[a:b] = own
            sure[a:b] = near[own, np.arange(b - a)]
        first = last
    return labels, sure


def _interpolated(
    times: npt.NDArray[np.floating], place: npt.NDArray[np.floating], values: Posteriors
) -> Posteriors:
    """``[speaker, time]`` of values ``[window, speaker]`` at ``place``."""
    return np.stack([np.interp(times, place, own) for own in values.T])


def _certainty(vectors: npt.NDArray[np.floating], posteriors: Posteriors) -> Posteriors:
    """Probabilities ``[window, speaker]`` by the cosine to the speakers' mean vectors."""
    means = means_of(vectors, posteriors)
    found = cosines_to(vectors, means)
    found *= SLOPE
    found -= found.max(1, keepdims=True)  # in place: 40 MB in ten hours
    np.exp(found, out=found)
    found /= found.sum(1, keepdims=True)
    return found


def _without_flickers(labels: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Labels without short runs between two runs of one other label."""
    edges = [0, *(np.flatnonzero(labels[1:] != labels[:-1]) + 1).tolist(), len(labels)]
    found = labels.copy()
    for before, first, last in zip(edges, edges[1:], edges[2:], strict=False):
        short = (last - first) * FRAME < LEAST_TURN
        if short and last < len(labels) and found[before] == labels[last]:
            found[first:last] = labels[last]
    return found
