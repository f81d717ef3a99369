"""Neural codec that separates speaker, content and prosody serially (MUSA, Yao et al. 2024)."""
