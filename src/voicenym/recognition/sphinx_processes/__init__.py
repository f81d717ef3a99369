"""Pocketsphinx in processes of its own: words, segments and forced alignment."""
