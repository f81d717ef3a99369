"""Recordings in files, single or in corpora: read for attacks and training, or run as a batch."""

from __future__ import annotations

DEFAULT_SYSTEM = "recast"
"""The system of the command: see docs/evaluate.md for what it was chosen by."""
