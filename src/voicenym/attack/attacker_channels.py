"""Channels by which attackers find speakers: voice, prosody, content, words, room."""

from __future__ import annotations

from voicenym.attack.attacker_list import ATTACKERS
from voicenym.attack.attackers import Attacker

CHANNELS = ("voice", "prosody", "content", "words", "room")
SEVERAL = "several"


def channel_of(attacker: str) -> str:
    """The channel of an attacker by its name in a report; ``several`` for a fusion.

    An attacker that is not known here, as in reports of other releases, attacks the voice.

    Example:
        >>> channel_of("semi-informed (room trained)"), channel_of("de-noising (mean)")
        ('room', 'voice')
    """
    found = (ATTACKERS.get(name) for name in ATTACKERS)
    kinds = [kind for kind in found if isinstance(kind, type) and issubclass(kind, Attacker)]
    named = (kind.channel for kind in kinds if getattr(kind, "name", None) == attacker)
    return next(named, "voice")
