"""Acoustic features of recognisers and verifiers: mel bands, filterbanks, cepstra."""
