"""The diarizer: a recording to turns of speakers.

Speech is found by Silero's detector, windows of speech become speaker vectors, a clustering gives
each window posteriors of speakers, and frames of 10 ms get posteriors by interpolation between the
centres of windows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from voicenym.diarization.clusterings import ALIKE, CLUSTERINGS, Posteriors, likeness, means_of
from voicenym.diarization.overlaps import PRECISION, second_speakers
from voicenym.diarization.recording_signal import RATE, mono
from voicenym.diarization.speaker_turns import Diarization, Turn
from voicenym.diarization.speech_regions import SPEECH, RegionRule, speech_regions
from voicenym.diarization.window_vectors import HOP, WINDOW, window_vectors, windows_of
from voicenym.errors import DiarizationError
from voicenym.kept_work import KeptWork
from voicenym.nets.activity.overlap_detector import OverlapProbabilities
from voicenym.nets.activity.silero import SpeechProbabilities
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.verification.verifiers import encoder_of

BUNDLED = "ecapa-small"
"""Name of the bundled encoder."""

FRAME = 0.01
"""Seconds of a frame."""
SLOPE = 14.91
"""Of the log-likelihood ratio over the cosine, for confidences (calibration of ``ecapa-small``)."""
LEAST_TURN = 0.25
"""Seconds; a shorter turn between two turns of another speaker is that speaker's."""

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
        kept.add(STAGES[0], facts, data)
    return samples, probabilities, overlap


def diarize(
    source: Source,
    encoder: Encoder,
    speakers: int | None = None,
    clustering: str = "vbx",
    overlaps: bool = True,
    *,
    stage: Callable[[str], None] = lambda text: None,
    warn: Callable[[str], object] = str,
    kept: KeptWork | None = None,
) -> tuple[Diarization, float]:
    """Turns of the speakers of a recording, and its length in seconds.

    Args:
        source: the signal.
        encoder: of speakers, in evaluation mode.
        speakers: their number; None finds it.
        clustering: one of :data:`voicenym.diarization.clusterings.CLUSTERINGS`.
        overlaps: whether a second speaker is marked where several people speak.
        stage, kept: as of :func:`analyse`.
        warn: called with a sentence where ``speakers`` may be too many, by ``ecapa-small``.

    Raises:
        DiarizationError: no speech, or fewer speakers than asked for.
    """
    found = analyse(source, encoder, stage=stage, kept=kept)
    if not len(found.windows):
        raise DiarizationError("no speech was found; check that the right track was recorded")
    posteriors = CLUSTERINGS[clustering](found.vectors, speakers)
    turns = turns_of(found, posteriors, overlaps)
    if speakers is not None and len(turns.speakers) < speakers:
        raise DiarizationError(
            f"only {len(turns.speakers)} of {speakers} speakers were found; give a smaller "
            "--speakers, or leave it out"
        )
    if speakers is not None and (cosine := likeness(found.vectors, posteriors)) >= ALIKE:
        warn(
            f"two of the {speakers} speakers sound alike (cosine {cosine:.2f}): one person may "
            "have two labels; check the turns, or compare with a smaller --speakers"
        )
    return turns, found.seconds


def diarize_file(
    path: str | os.PathLike[str],
    encoder: str | None = None,
    speakers: int | None = None,
    clustering: str | None = None,
    *,
    overlaps: bool = True,
    lenient: bool = False,
    stage: Callable[[str], None] = lambda text: None,
    progress: Callable[[float], None] = lambda seconds: None,
    warn: Callable[[str], object] = str,
    kept: KeptWork | None = None,
) -> tuple[Diarization, float]:
    """Turns of the speakers of a recording in a file, and its length in seconds.

    Args:
        path: of the recording.
        encoder: name or folder of a verifier; None for the bundled one.
        speakers: their number; None finds it.
        clustering: one of :data:`voicenym.diarization.clusterings.CLUSTERINGS`; None for VBx, which
            finds the number of speakers best, and spectral clustering where the number is given or
            the encoder is not the bundled one, for which there is no PLDA.
        overlaps: whether a second speaker is marked where several people speak.
        lenient: accept an Ogg without an end mark.
        stage: called with the name of each stage.
        progress: called with the seconds that a stage has read.
        warn: called with a sentence where ``speakers`` may be too many, for the bundled encoder.
        kept: what an interrupted run found in this recording with this encoder, and to which is
            added what this one does.

    Raises:
        DiarizationError: as :func:`diarize`, or a clustering that does not exist or does not fit.
        AudioError: a recording that cannot be read.
        VoicenymError: no such encoder.
    """
    if clustering is None:
        clustering = "vbx" if encoder in (None, BUNDLED) and speakers is None else "spectral"
    if clustering not in CLUSTERINGS:
        raise DiarizationError(f"no clustering {clustering!r}; there are: {', '.join(CLUSTERINGS)}")
    if clustering == "vbx" and encoder not in (None, BUNDLED):
        raise DiarizationError(
            f"vbx needs the PLDA of {BUNDLED}, which does not fit {encoder}; give --clustering "
            "spectral, or leave out --encoder"
        )
    network = encoder_of(encoder or BUNDLED).eval()

    def source() -> Iterator[torch.Tensor]:
        done = 0
        for block in mono(path, lenient=lenient):
            done += len(block)
            progress(done / RATE)
            yield block

    doubt = warn if encoder in (None, BUNDLED) else str  # ALIKE is of its cosines
    try:
        return diarize(
            source, network, speakers, clustering, overlaps, stage=stage, warn=doubt, kept=kept
        )
    except DiarizationError as error:
        raise DiarizationError(f"{os.fspath(path)}: {error}") from None


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
    order = list(dict.fromkeys(labels[labels >= 0].tolist()))
    turns = []
    for number, speaker in enumerate(order, 1):
        own = np.where(labels == speaker, sure, np.where(second == speaker, PRECISION, np.nan))
        speaks = ~np.isnan(own)
        edges = np.flatnonzero(np.diff(speaks.astype(np.int8), prepend=0, append=0))
        for first, last in edges.reshape(-1, 2).tolist():
            confidence = round(min(1.0, max(0.0, float(own[first:last].mean()))), 2)
            end = min(last * FRAME, found.seconds)
            turns.append(Turn(first * FRAME, end, f"speaker-{number}", confidence))
    return Diarization(turns)


def frame_labels(
    found: Analysis, posteriors: Posteriors
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Speaker and its probability for each frame of 10 ms; -1 and 0 outside of speech.

    Args:
        found: the analysis.
        posteriors: ``[window, speaker]``.
    """
    frames = round(found.seconds / FRAME) + 1
    labels, sure = np.full(frames, -1, dtype=np.int64), np.zeros(frames)
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
    score = SLOPE * (vectors @ means.T)
    found = np.exp(score - score.max(1, keepdims=True))
    return np.asarray(found / found.sum(1, keepdims=True), dtype=np.float64)


def _without_flickers(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Labels without short runs between two runs of one other label."""
    edges = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    found = labels.copy()
    for before, first, last in zip(edges, edges[1:], edges[2:], strict=False):
        short = (last - first) * FRAME < LEAST_TURN
        if short and last < len(labels) and found[before] == labels[last]:
            found[first:last] = labels[last]
    return found
