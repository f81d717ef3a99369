"""Tables and figures of Yao et al. 2024 (MUSA)."""
