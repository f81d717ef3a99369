"""Systems: waveform in, waveform of another voice out; one file per system."""
