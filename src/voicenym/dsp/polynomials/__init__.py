"""Factors of many real polynomials at once."""
