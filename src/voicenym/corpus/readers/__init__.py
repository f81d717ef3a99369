"""Readers of recordings and their speakers: folders, Kaldi, lhotse and TSV manifests."""
