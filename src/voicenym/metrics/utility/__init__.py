"""Utility besides words: intonation, predicted opinion, emotion and accent, noise, speed."""
