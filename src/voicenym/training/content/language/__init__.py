"""Training of scores that detect other languages, music and noise."""
