"""Recipes of synthesizers under parts that stay as they are."""
