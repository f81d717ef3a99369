"""Training of bottlenecks of TDNN-F recognisers, also against the speaker."""
