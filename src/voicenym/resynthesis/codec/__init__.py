"""Anonymization with the MUSA codec, which separates the speaker from the content."""
