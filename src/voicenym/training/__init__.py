"""Recipes: one file per trainable part, on Lightning; and what all recipes share."""
