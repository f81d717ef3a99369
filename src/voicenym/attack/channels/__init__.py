"""Vectors of the prosody, content, words and room of recordings, which single out speakers."""
