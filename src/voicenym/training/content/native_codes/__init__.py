"""Training of native codes: accented speech gets the codes of native readings."""
