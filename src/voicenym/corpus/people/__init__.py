"""Recordings of several people, of whom some are hidden."""
