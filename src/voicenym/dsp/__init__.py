"""Signal analysis and synthesis without weights."""
