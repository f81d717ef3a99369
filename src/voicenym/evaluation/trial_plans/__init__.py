"""Trials and conditions: drawn, or from lists; target voices."""
