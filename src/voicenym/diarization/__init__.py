"""Who speaks when: turns of speakers, their files, and the diarizer that finds them."""
