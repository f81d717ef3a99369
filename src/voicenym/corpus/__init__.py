"""Recordings in files and corpora: readers for attacks and training, and the batch run."""

from __future__ import annotations

DEFAULT_SYSTEM = "recast"
"""Default system of the command; docs/research/attackers.md gives the reasons for this choice."""
