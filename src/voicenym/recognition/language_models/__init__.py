"""N-gram models of words and characters, and their use in a search."""
