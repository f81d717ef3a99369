"""Records of a run: its lock, log, state and progress."""
