"""Recipes of identity methods: rotations, autoencoders, mixtures, F0 regressions."""
