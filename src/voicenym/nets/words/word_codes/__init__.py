"""Encoders of word codes: of recordings, of live streams, and what they remember."""
