"""Tables and figures of Turner et al. 2022 (PCA and Gaussian mixtures)."""
