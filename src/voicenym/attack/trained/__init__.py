"""Attackers that train a verifier on anonymized speech."""
