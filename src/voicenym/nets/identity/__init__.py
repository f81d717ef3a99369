"""Networks that turn a speaker's vector into another's."""
