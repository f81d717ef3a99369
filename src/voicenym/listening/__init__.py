"""Listening tests: their design, their files, what listeners answer, and the analysis."""
