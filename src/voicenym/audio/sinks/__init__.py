"""Writers of sound, block by block: RIFF WAVE, libsndfile, ffmpeg."""
