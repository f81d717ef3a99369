"""Files of turns in the formats of other programs, and timelines to read."""
