"""The diarizer: a recording to turns of speakers.

Speech is found by Silero's detector, windows of speech become speaker vectors, a clustering gives
each window posteriors of speakers, and frames of 10 ms get posteriors by interpolation between the
centres of windows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from numbers import Integral

import torch

from voicenym.diarization.clustering.clusterings import ALIKE, CLUSTERINGS, usual
from voicenym.diarization.clustering.speaker_means import likeness
from voicenym.diarization.recording_analysis import Source, analyse
from voicenym.diarization.recording_signal import RATE, mono
from voicenym.diarization.speaker_turns import Diarization
from voicenym.diarization.turn_doubts import Doubt, alike
from voicenym.diarization.window_turns import turns_of
from voicenym.errors import DiarizationError
from voicenym.kept_work import KeptWork
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.verification.verifiers import encoder_of

BUNDLED = "ecapa-small"
"""Name of the bundled encoder."""


def diarize(
    source: Source,
    encoder: Encoder,
    speakers: int | None = None,
    clustering: str | None = "vbx",
    overlaps: bool = True,
    *,
    stage: Callable[[str], None] = lambda text: None,
    warn: Callable[[Doubt], object] = str,
    kept: KeptWork | None = None,
    strict: bool = False,
) -> tuple[Diarization, float]:
    """Turns of the speakers of a recording, and its length in seconds.

    Args:
        source: the signal.
        encoder: of speakers, in evaluation mode.
        speakers: their number; None finds it.
        clustering: one of :data:`voicenym.diarization.clustering.clusterings.CLUSTERINGS`; None
            for the one that fits best by :func:`voicenym.diarization.clustering.clusterings.usual`.
        overlaps: whether a second speaker is marked where several people speak.
        stage, kept: as of :func:`voicenym.diarization.recording_analysis.analyse`.
        warn: called with a doubt where ``speakers`` may be too many, by ``ecapa-small``.
        strict: whether one voice where several are asked for is an error, by ``ecapa-small``.

    Raises:
        DiarizationError: no speech, fewer speakers than asked for, or no number of them.
    """
    _check_number(speakers)
    found = analyse(source, encoder, stage=stage, kept=kept)
    if not len(found.windows):
        raise DiarizationError("no speech was found; check that the right track was recorded")
    name = clustering or usual(len(found.vectors), speakers)
    posteriors = CLUSTERINGS[name](found.vectors, speakers)
    turns = turns_of(found, posteriors, overlaps)
    if speakers is not None and len(turns.speakers) < speakers:
        raise DiarizationError(
            f"only {len(turns.speakers)} of {speakers} speakers were found; ask for fewer, or "
            "leave their number out"
        )
    if speakers is not None and (cosine := likeness(found.vectors, posteriors)) >= ALIKE:
        if strict and len(set(CLUSTERINGS["vbx"](found.vectors, None).argmax(1).tolist())) == 1:
            raise DiarizationError(
                f"only one speaker was found, not {speakers}, and the voices of {speakers} parts "
                f"are alike (cosine {cosine:.2f}); leave out --speakers, or divide the speech all "
                "the same with --clustering spectral"
            )
        warn(alike(speakers, cosine))
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
    warn: Callable[[Doubt], object] = str,
    kept: KeptWork | None = None,
    strict: bool = False,
) -> tuple[Diarization, float]:
    """Turns of the speakers of a recording in a file, and its length in seconds.

    Args:
        path: of the recording.
        encoder: name or folder of a verifier; None for the bundled one.
        speakers: their number; None finds it.
        clustering: one of :data:`voicenym.diarization.clustering.clusterings.CLUSTERINGS`; None
            for VBx, which finds the number of speakers best, and spectral clustering where the
            number is given and the recording is short, or the encoder is not the bundled one, for
            which there is no PLDA.
        overlaps: whether a second speaker is marked where several people speak.
        lenient: accept an Ogg without an end mark.
        stage: called with the name of each stage.
        progress: called with the seconds that a stage has read.
        warn: called with a doubt where ``speakers`` may be too many, for the bundled encoder.
        kept: what an interrupted run found in this recording with this encoder, and to which is
            added what this one does.
        strict: whether one voice where several are asked for is an error, unless a clustering or
            an encoder is named.

    Raises:
        DiarizationError: as :func:`diarize`, or a clustering that does not exist or does not fit.
        AudioError: a recording that cannot be read.
        VoicenymError: no such encoder.
    """
    _check_number(speakers)  # before the encoder is loaded
    strict = strict and clustering is None and encoder in (None, BUNDLED)
    if clustering is None and encoder not in (None, BUNDLED):
        clustering = "spectral"
    if clustering is not None and clustering not in CLUSTERINGS:
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

    tell = warn if encoder in (None, BUNDLED) else str  # ALIKE is of its cosines
    try:
        return diarize(
            source, network, speakers, clustering, overlaps,
            stage=stage, warn=tell, kept=kept, strict=strict,
        )  # fmt: skip
    except DiarizationError as error:
        raise DiarizationError(f"{os.fspath(path)}: {error}") from None


def _check_number(speakers: int | None) -> None:
    whole = isinstance(speakers, Integral) and not isinstance(speakers, bool)
    if speakers is not None and not (whole and speakers >= 1):
        raise DiarizationError(
            f"the number of speakers is a whole number from 1, or None to find it, not {speakers!r}"
        )
