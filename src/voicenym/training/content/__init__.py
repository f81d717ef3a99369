"""Recipes of what is said, apart from who says it: units, tokens, encoders of content."""
