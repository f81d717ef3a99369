"""A run of training: configuration, limits, schedules, resumption, processors, logs."""
