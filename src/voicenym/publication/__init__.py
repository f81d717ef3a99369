"""Publication of an anonymized corpus: verification, claims, card, manifests, checksums."""
