"""Answers from files: tables, other tools, and simulated listeners."""
