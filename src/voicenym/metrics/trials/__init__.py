"""Trials of a verifier: their scores, order, bins and weights; pool-adjacent-violators (PAV)."""
