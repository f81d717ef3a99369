"""Modular resynthesis pipeline: content encoder, F0 tracker, speaker encoder, synthesizer."""
