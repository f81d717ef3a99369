"""Names of attackers in results of earlier releases."""

from __future__ import annotations

FORMER = {
    "semi-informed (course trained)": "semi-informed (prosody trained)",
    "semi-informed (i-vectors and course trained)": "semi-informed (i-vectors and prosody trained)",
    "courses of level and pitch of anonymized speech": "prosody of anonymized speech",
    "i-vectors and courses trained on anonymized speech": (
        "i-vectors and prosody trained on anonymized speech"
    ),
}
"""Today's names of attackers and their verifiers by those in results of earlier releases."""


def todays_name(text: str) -> str:
    """A text of earlier results with today's names of attackers and verifiers.

    Example:
        >>> todays_name("semi-informed (course trained)")
        'semi-informed (prosody trained)'
    """
    for before, today in FORMER.items():
        text = text.replace(before, today)
    return text
