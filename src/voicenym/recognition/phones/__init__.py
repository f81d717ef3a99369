"""Recognisers of phones: decoding graphs and exact search."""
