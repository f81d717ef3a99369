"""A run of training, whatever is trained: configuration, limits, pace, processors, logs."""
