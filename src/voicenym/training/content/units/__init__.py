"""Training of units without texts, of codebooks, and of content that predicts units."""
