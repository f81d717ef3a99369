"""Figures of verification scores: error rates, information, linkability, disclosure, curves."""
