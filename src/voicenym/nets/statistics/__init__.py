"""Statistical speaker models: Gaussian mixtures and i-vectors."""
