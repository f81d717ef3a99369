"""The machine of systems whose parts are trained apart: content, F0, speaker, synthesizer."""
