"""Recipes of pseudo-speakers: rotations, autoencoders, mixtures, registers of pitch."""
