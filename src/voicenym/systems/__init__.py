"""Anonymization systems: one file per published system, each a map from waveform to waveform."""
