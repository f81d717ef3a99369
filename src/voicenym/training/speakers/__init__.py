"""Recipes of those who know speakers: verifiers, i-vectors, background models."""
