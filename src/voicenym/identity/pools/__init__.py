"""Pools of target speakers: storage, ranking, clustering."""
