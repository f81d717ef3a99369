"""The recipe of V-Cloak."""
