"""Registries of named objects: systems, identity methods, architectures, metrics and others.

>>> from voicenym.registry import Registry
>>> SHAPES = Registry("shape", {"fraction": "fractions:Fraction"})
>>> SHAPES.load("fraction:numerator=3,denominator=4")
Fraction(3, 4)
"""

from voicenym.registry.by_name import Description, Registry
from voicenym.registry.entry_points import OURS
from voicenym.registry.grammar import near, split
from voicenym.registry.names import Entry
from voicenym.registry.parameters import Parameter, parameters, summary

__all__ = [
    "OURS",
    "Description",
    "Entry",
    "Parameter",
    "Registry",
    "near",
    "parameters",
    "split",
    "summary",
]
