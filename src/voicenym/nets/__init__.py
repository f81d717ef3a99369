"""Neural parts, one architecture a file."""
