"""The recipe of MUSA's codec."""
