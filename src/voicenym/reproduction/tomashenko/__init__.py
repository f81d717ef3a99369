"""Tables and figures of the supplement to Tomashenko et al. 2022 (VoicePrivacy 2020)."""
