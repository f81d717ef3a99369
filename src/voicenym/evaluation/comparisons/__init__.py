"""Comparisons of systems across reports."""
