"""Recordings in files: one, a tree, a Kaldi data folder, a lhotse manifest; run as a batch."""

from __future__ import annotations

DEFAULT_SYSTEM = "recast"
"""The system of the command: see docs/evaluate.md for what it was chosen by."""
