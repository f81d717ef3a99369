"""Networks that add to a waveform what hides its speaker from verifiers."""
