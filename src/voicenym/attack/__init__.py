"""Attackers: their knowledge, their methods, and the transforms that they apply to recordings."""
