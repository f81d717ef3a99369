"""Measurements of one system: attacks, utility, distinctiveness, sanity of attackers."""
