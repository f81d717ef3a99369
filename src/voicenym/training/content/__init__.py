"""Recipes of content: units, tokens and content encoders."""
