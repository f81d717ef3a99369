"""Isolation of worker processes: memory, time, system calls, other processes."""
