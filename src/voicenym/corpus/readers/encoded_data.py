"""Values that say they are text or numbers, and are data: sound, features, voiceprints."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENCODED = re.compile(r"[A-Za-z0-9+/_=-]{2000}")
"""Base64 or hexadecimal digits without a blank; no language has words of this length."""
MOST_NUMBERS = 100
"""Numbers of a list, from more of which on they are samples or features."""


def is_encoded(text: str) -> bool:
    """Whether a text holds bytes, such as a recording in base64, with or without line ends."""
    return _ENCODED.search(text.replace("\r", "").replace("\n", "")) is not None


def is_series(values: Sequence[object]) -> bool:
    """Whether a list holds numbers, and too many to describe a recording."""
    return sum(isinstance(value, (int, float)) for value in values) > MOST_NUMBERS
