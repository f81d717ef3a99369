"""Words of the same class that stand for removed ones, and their speech."""
