"""Parts of voicenym from another package: a system, an identity method and a verifier."""
