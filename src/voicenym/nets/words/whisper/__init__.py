"""Whisper: network, decoding, word times, and published weights."""
