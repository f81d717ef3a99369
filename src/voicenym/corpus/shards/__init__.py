"""Shards (WebDataset tar, Parquet) and object stores: one task reads and writes one object."""
