"""Changes of pitch and duration: TD-PSOLA, phase vocoder."""
