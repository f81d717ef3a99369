"""Readers of sound, block by block: RIFF WAVE, libsndfile, ffmpeg."""
