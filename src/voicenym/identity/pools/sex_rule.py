"""Sex of a pseudo-speaker relative to the speaker's."""

from __future__ import annotations

from typing import Literal, get_args

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Sex

Rule = Literal["same", "opposite", "any"]
"""Sex of a pseudo-speaker relative to the speaker's."""


def checked_rule(name: str, rule: str) -> None:
    """Rejects an unknown rule.

    Raises:
        UnknownSystemError: with the rules there are.
    """
    if rule not in get_args(Rule):
        raise UnknownSystemError(
            f"{name}: sex is one of {', '.join(get_args(Rule))}, not {rule!r}: that of the "
            "pseudo-speaker, seen from the speaker"
        )


def chosen_sex(rule: Rule, sex: Sex | None) -> Sex | None:
    """Sex of the pseudo-speaker; None for any."""
    if rule == "any" or sex is None:
        return None
    return sex if rule == "same" else ("m" if sex == "f" else "f")
