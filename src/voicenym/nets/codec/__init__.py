"""A codec that parts who speaks from what is said, one after the other (MUSA, paper 2)."""
