"""Limits of the recordings that are read, written and anonymized."""

MOST_CHANNELS = 256
LEAST_RATE = 1_000
MOST_RATE = 2_822_400
"""Largest rate in Hz, that of decoded DSD at 512 times 44.1 kHz."""
