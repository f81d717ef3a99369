"""Clustering of windows into speakers."""
