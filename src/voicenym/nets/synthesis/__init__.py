"""Synthesizers: content, pitch and a speaker vector in, a waveform out."""
