"""MUSA's anonymization: speech coded without its speaker, and decoded in another voice, or none.

Yao et al. (paper 2), section III.D: the speaker's vector s is taken away before quantisation, and
an empty one is added after it; a linear blend of both trades privacy for likeness. With the empty
one everybody has the same voice, whatever the key. Instead of it any :class:`Identity` may say who
is heard: :func:`rotation` is the key's own, so that voices stay distinct.
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
"""Of the codec's speaker encoder, where vectors are asked whose they are."""


def anonymized(
    codec: Codec,
    speech: torch.Tensor,
    pseudonyms: Sequence[Pseudonym],
    method: Identity | None = None,
    strength: float = 1.0,
) -> torch.Tensor:
    """Recordings in other voices, as long: ``[row, time]`` at 16 kHz.

    Args:
        codec: trained, in evaluation mode.
        speech: ``[row, time]`` at 16 kHz.
        pseudonyms: one a row.
        method: who is heard; :class:`Blank`, an empty vector, unless given.
        strength: 1 for that voice alone, 0 for the speaker's own.

    Raises:
        VoicenymError: strength beyond 0 to 1, clips too short to hear who speaks, or as
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
    """Who is heard: ``(1 - strength) s + strength method(s)``, ``[row, size]``.

    What is left of s below a strength of 1 is left to every attacker. Where nobody was heard, s
    being zero, nobody is.

    Args:
        own: s, ``[row, size]`` of the codec's speaker encoder.
        pseudonyms, method, strength: as of :func:`anonymized`.

    Raises:
        VoicenymError: strength beyond 0 to 1, or as :meth:`Identity.batch`.
    """
    checked(strength)
    heard = own.any(1).nonzero()[:, 0].tolist()
    other = torch.zeros_like(own)
    if heard:
        some = [pseudonyms[row] for row in heard]
        other[heard] = (method or Blank()).batch(own[heard], some).to(own)
    return (1.0 - strength) * own + strength * other


def checked(strength: float) -> float:
    """The strength.

    Raises:
        VoicenymError: beyond 0 to 1.
    """
    if not 0.0 <= strength <= 1.0:
        raise VoicenymError(
            f"strength is 0 (the speaker's own voice) to 1 (all of the other one), not {strength}"
        )
    return strength


def rotation(codec: Codec) -> Householder:
    """The voice that a pseudonym turns the speaker's into.

    Vectors turn about the mean of the speakers whom the codec learnt from, in coordinates where
    those have covariance I, by a matrix that the pseudonym draws uniformly; the distance from the
    mean is drawn too. Who does not know the pseudonym sees a voice that is as likely as any other.

    Args:
        codec: one whose ``voices`` were learnt, as ``voicenym train musa`` does.
    """
    return Householder(Rotation(codec.voices, NAME), turns="key")
