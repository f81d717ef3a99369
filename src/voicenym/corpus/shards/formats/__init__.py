"""Formats of shards: WebDataset tar, Parquet, lhotse's Shar."""
