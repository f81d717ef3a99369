"""Figures of several tests whose speakers are drawn jointly: differences, weighted means."""
