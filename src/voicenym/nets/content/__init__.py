"""Content encoders: recordings in, what is said out, frame by frame."""
