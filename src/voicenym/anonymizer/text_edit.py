"""Edits of the texts that a system speaks, such as the removal of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TextEdit = Callable[[Sequence[str]], list[str]]
"""From phrases that follow each other to as many others; an empty one is not spoken."""
