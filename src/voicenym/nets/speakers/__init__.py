"""Speaker encoders: one embedding vector per recording."""
