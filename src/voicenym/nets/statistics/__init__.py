"""Models of frames by statistics: mixtures and i-vectors."""
