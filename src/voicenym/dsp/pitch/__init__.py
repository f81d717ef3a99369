"""Fundamental frequency: trackers behind one interface, offline and streaming."""
