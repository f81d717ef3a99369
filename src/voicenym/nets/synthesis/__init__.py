"""Synthesizers: waveforms from content, F0 and a speaker vector."""
