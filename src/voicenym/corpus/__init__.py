"""Recordings in files and corpora: readers for attacks and training, and the batch run."""

from __future__ import annotations

DEFAULT_SYSTEM = "recast"
"""Default system of the command; docs/research/attackers.md gives the reasons for this choice."""
DEFAULT_FALLBACK = "recast"
"""Default system of the command for recordings that another system refuses: it keeps all sounds, so
that it suits any language."""
NO_FALLBACK = "none"
"""Name that asks for no such system: what the first one refuses is an error."""
