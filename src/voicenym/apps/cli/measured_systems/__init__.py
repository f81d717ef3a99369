"""Measured figures of systems, as commands show them."""
