"""Acoustic models of phone states, for hybrid recognisers."""
