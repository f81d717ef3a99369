"""The picture of a film: copied without re-encoding and without metadata."""
