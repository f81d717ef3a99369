"""Networks that map a speaker vector to a pseudo-speaker's."""
