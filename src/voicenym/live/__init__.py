"""Live anonymization: blocks of a device or a pipe through a stream, with silence at any fault."""
