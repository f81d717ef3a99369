"""Recipes of synthesizers with frozen encoders."""
