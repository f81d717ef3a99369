"""Attackers that search: over keys, parameters of the system, and its target voices."""
