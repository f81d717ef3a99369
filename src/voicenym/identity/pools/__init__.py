"""Pools of speakers to become: what they hold, and how one chooses among them."""
