"""Fundamental frequency: trackers behind one interface, and one that works block by block."""
