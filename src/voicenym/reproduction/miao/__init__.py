"""Tables and figures of Miao et al. 2023 (orthogonal Householder networks)."""
