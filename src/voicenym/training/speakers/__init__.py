"""Recipes of speaker verifiers: speaker encoders, i-vectors, background models."""
