"""Training speech: speech cache, crops, augmentation, transcripts, and speaker splits."""
