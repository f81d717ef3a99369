"""Spectral envelopes: linear prediction, formants, averages, warps."""
