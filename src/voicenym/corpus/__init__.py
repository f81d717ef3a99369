"""Recordings in files and corpora: readers for attacks and training, and the batch run."""

from __future__ import annotations

DEFAULT_SYSTEM = "recast"
"""The system of the command: see docs/research/attackers.md for what it was chosen by."""
