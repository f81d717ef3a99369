"""Spoken names, numbers and other words: found in the transcript, placed in time, and removed."""
