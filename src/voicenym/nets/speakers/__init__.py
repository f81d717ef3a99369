"""Speaker encoders: recordings in, one vector each out."""
