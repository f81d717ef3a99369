"""Trials, the protocol of an evaluation, and its report."""
