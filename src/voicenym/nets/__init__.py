"""Neural networks, one architecture a file."""
