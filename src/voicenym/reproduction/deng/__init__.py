"""Tables and figures of Deng et al. 2023 (V-Cloak)."""
