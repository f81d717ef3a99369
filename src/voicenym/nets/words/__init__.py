"""Acoustic models of speech recognition: token posteriors of recordings."""
