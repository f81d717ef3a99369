"""Whispered speech as a system of voicenym."""
