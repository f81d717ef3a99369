"""Files of weights: forms in which they are stored, digests, safe reading."""
