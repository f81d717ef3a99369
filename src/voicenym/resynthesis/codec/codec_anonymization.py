"""MUSA anonymization: encoding without the speaker vector, decoding with another or an empty one.

Yao et al. (2024), sections III.B and III.D: the speaker vector s is subtracted before quantisation,
and an empty vector is added after it; a linear blend of both trades privacy for similarity. With
the empty vector all speakers get the same voice, whatever the key. Any :class:`Identity` can
replace it: :func:`rotation` depends on the key, so that voices stay distinct.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from voicenym.errors import VoicenymError
from voicenym.identity.blank import Blank
from voicenym.identity.householder import Householder
from voicenym.identity.method import Identity
from voicenym.nets.codec.codec import Codec
from voicenym.nets.identity.householder_checkpoint import Rotation
from voicenym.pseudonym import Pseudonym

NAME = "musa"
"""Name of the codec's speaker encoder in checks of vectors."""


def anonymized(
    codec: Codec,
    speech: torch.Tensor,
    pseudonyms: Sequence[Pseudonym],
    method: Identity | None = None,
    strength: float = 1.0,
) -> torch.Tensor:
    """Recordings in other voices, of the same length: ``[row, time]`` at 16 kHz.

    Args:
        codec: trained, in evaluation mode.
        speech: ``[row, time]`` at 16 kHz.
        pseudonyms: one a row.
        method: identity method of the target voice; default: :class:`Blank`, an empty vector.
        strength: 1 for that voice alone, 0 for the speaker's own.

    Raises:
        VoicenymError: strength beyond 0 to 1, clips too short for a speaker vector, or as
            :meth:`Identity.batch`.
    """
    checked(strength)
    with torch.inference_mode():
        own = codec.speaker(speech)
    return codec.convert(speech, own, voices(own, pseudonyms, method, strength))


def voices(
    own: torch.Tensor,
    pseudonyms: Sequence[Pseudonym],
    method: Identity | None = None,
    strength: float = 1.0,
) -> torch.Tensor:
    """Target speaker vectors: ``(1 - strength) s + strength method(s)``, ``[row, size]``.

    Below a strength of 1, the rest of s is available to every attacker. A zero vector, of an empty
    recording, stays zero.

    Args:
        own: s, ``[row, size]`` of the codec's speaker encoder.
        pseudonyms, method, strength: as of :func:`anonymized`.

    Raises:
        VoicenymError: strength beyond 0 to 1, or as :meth:`Identity.batch`.
    """
    checked(strength)
    audible = own.any(1).nonzero()[:, 0].tolist()
    other = torch.zeros_like(own)
    if audible:
        some = [pseudonyms[row] for row in audible]
        other[audible] = (method or Blank()).batch(own[audible], some).to(own)
    return (1.0 - strength) * own + strength * other


def checked(strength: float) -> float:
    """The strength, validated.

    Raises:
        VoicenymError: beyond 0 to 1.
    """
    if not 0.0 <= strength <= 1.0:
        raise VoicenymError(
            f"strength is 0 (the speaker's own voice) to 1 (all of the other one), not {strength}"
        )
    return strength


def rotation(codec: Codec) -> Householder:
    """Identity method that rotates the speaker vector by the pseudonym.

    Vectors are rotated about the mean of the training speakers, in coordinates with covariance I,
    by an orthogonal matrix that the pseudonym draws uniformly; the distance from the mean is drawn
    too. Without the pseudonym, all voices are equally likely.

    Args:
        codec: one with trained ``voices``, as of ``voicenym train musa``.
    """
    return Householder(Rotation(codec.voices, NAME), turns="key")
