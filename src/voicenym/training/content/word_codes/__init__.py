"""Training of word codes: a discrete bottleneck before Whisper's decoder."""
