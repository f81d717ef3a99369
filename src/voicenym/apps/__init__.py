"""Thin programs over the library: no signal processing, no metrics."""
