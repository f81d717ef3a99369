"""Verification of held-out speakers: all pairs of recordings of one sex, compared by cosine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.metrics import EER, Affine, Speakers, eer
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.training.speech.speech_cache import Utterance


def verify(
    vectors: np.ndarray,
    recordings: Sequence[Recording],
    replicates: int = 1000,
    sex: str | None = None,
) -> EER:
    """Equal error rate over all pairs of recordings of one sex, by cosine.

    Args:
        vectors: ``[recording, size]``.
        recordings: of the vectors.
        replicates: of the bootstrap over speakers; 0 for the value alone.
        sex: only pairs of ``f`` or ``m``; where no sex is known all pairs count.

    Raises:
        CorpusError: no pair of one speaker, or none of two.
    """
    same, others, speakers = pairs(vectors, recordings, sex)
    return eer(same, others, speakers if replicates else None, replicates=max(replicates, 20))


def pairs(
    vectors: np.ndarray, recordings: Sequence[Recording], sex: str | None = None
) -> tuple[np.ndarray, np.ndarray, Speakers]:
    """Cosines of all pairs of one speaker, those of pairs of two speakers of one sex, and the
    speakers.

    Args:
        vectors, recordings, sex: as for :func:`verify`.

    Raises:
        CorpusError: no pair of one speaker, or none of two.
    """
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    names = sorted({recording.speaker for recording in recordings})
    who = np.array([names.index(recording.speaker) for recording in recordings])
    sexes = np.array([recording.sex for recording in recordings])
    one, other = np.triu_indices(len(recordings), 1)
    counted = sexes[one] == sexes[other]
    if sex is not None:
        counted &= sexes[one] == sex
    one, other = one[counted], other[counted]
    scores = np.einsum("pd,pd->p", unit[one], unit[other])
    same = who[one] == who[other]
    if not same.any() or same.all():
        raise CorpusError(
            "no pairs of one speaker and of two to judge by; keep out more speakers, with two "
            "recordings each"
        )
    both = np.stack([who[one], who[other]], axis=1)
    return scores[same], scores[~same], Speakers(both[same], both[~same])


def error_rates(
    encoder: Encoder, utterances: Sequence[Utterance]
) -> dict[str, tuple[float, float, float]]:
    """Equal error rates in percent with their intervals, of one sex and by sex.

    Args:
        encoder: trained.
        utterances: of speakers used neither for training nor for validation.
    """
    recordings = [utterance.recording for utterance in utterances]
    vectors = encoder.embed([torch.from_numpy(u.samples()) for u in utterances]).numpy()
    figures = {}
    for name, sex in (("same sex", None), ("women", "f"), ("men", "m")):
        if sex is None or any(recording.sex == sex for recording in recordings):
            found = verify(vectors, recordings, sex=sex)
            low, high = found.interval
            figures[name] = (100 * found.value, 100 * low, 100 * high)
    return figures


def calibrated(encoder: Encoder, utterances: Sequence[Utterance]) -> Affine:
    """Map from the cosine of two recordings to a log-likelihood ratio in nats.

    Args:
        encoder: trained.
        utterances: of speakers outside its training.
    """
    recordings = [utterance.recording for utterance in utterances]
    vectors = encoder.embed([torch.from_numpy(u.samples()) for u in utterances]).numpy()
    same, others, _ = pairs(vectors, recordings)
    return Affine.fit(same, others)
