"""Recognisers of words: recordings in, posteriors of characters out."""
