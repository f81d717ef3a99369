"""Errors of words and phones, and the texts that are compared."""
