"""Plans of a batch: source, target and speaker of each recording; tables of the outputs."""
