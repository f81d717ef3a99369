"""Design of a study: items, stimuli, orders, and how many listeners it needs."""
