"""Pools of workers: processes of this machine, or actors of Ray."""
