"""Training of the encoder with which word codes are computed in live streams."""
