"""Attackers on channels of speech, and fusions of channels and searches."""
