"""Nearness of an output to its input, by which outputs are refused (law 8)."""
