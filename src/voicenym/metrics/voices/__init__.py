"""Figures of a set of voices: distinctiveness, diversity, clusters of recordings by speaker."""
