"""Check of pseudonyms that callers give."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.pseudonym.random_draws import Pseudonym


def checked_pseudonyms(pseudonyms: Sequence[Pseudonym]) -> Sequence[Pseudonym]:
    """Pseudonyms as they are given; a :class:`TypeError` names what is none, such as a name."""
    for pseudonym in pseudonyms:
        if not isinstance(pseudonym, Pseudonym):
            raise TypeError(
                f"a pseudonym is made by Key.pseudonym(speaker), and is no "
                f"{type(pseudonym).__name__}"
            )
    return pseudonyms
