"""Content encoders: frame-level linguistic features of recordings."""
