"""Refusals: recordings that a system does not suit."""

from __future__ import annotations

from typing import NamedTuple


class Refusal(NamedTuple):
    """Why a system does not suit a recording.

    Args:
        reason: a clause for the user, without the recording's name.
        cure: a clause: what to do where the reason is wrong.
    """

    reason: str
    cure: str
