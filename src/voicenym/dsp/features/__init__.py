"""Spectra as recognisers and verifiers hear them: mel bands, filterbanks, cepstra."""
