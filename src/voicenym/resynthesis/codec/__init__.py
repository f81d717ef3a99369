"""The machine of MUSA: a codec that separates the speaker from the content."""
