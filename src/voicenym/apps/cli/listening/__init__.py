"""Subcommands of ``voicenym listen``."""
