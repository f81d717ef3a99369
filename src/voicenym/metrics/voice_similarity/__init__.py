"""Voice similarity matrices, from the scores of all pairs of segments."""
