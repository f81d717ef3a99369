"""The recipe of a resynthesis system whose parts learn together."""
