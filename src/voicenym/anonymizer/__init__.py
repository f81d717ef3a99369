"""What a system is: Anonymizer, Card, Stream, the registry and :func:`load`.

A system is one module in :mod:`voicenym.systems` that holds one subclass of :class:`Anonymizer`.
Its module name is its name (``pv_tsm.py`` is ``pv-tsm``); nothing else has to be registered.

A subclass says how one *core* is made: an object that eats blocks ``[row, time]`` at the working
rate and gives back blocks of the same rows, in total as long as the input. A row is one channel of
one recording, with its own pseudonym, so that channels and utterances are batched alike. All that
surrounds the core (sample rates, channels, exact length, range, chunking) is done here, once.
"""

from voicenym.anonymizer.anonymizer import BLOCK_SECONDS, JUDGES, SIGNAL, VERIFIERS, Anonymizer
from voicenym.anonymizer.card import Card, Figure
from voicenym.anonymizer.registry import available, load, revisions, system_class, usable
from voicenym.anonymizer.stream import (
    MAX_WORKING_RATE,
    MIN_WORKING_RATE,
    Core,
    Profiler,
    Profiling,
    Stream,
    working_rate,
)

__all__ = [
    "BLOCK_SECONDS",
    "JUDGES",
    "MAX_WORKING_RATE",
    "MIN_WORKING_RATE",
    "SIGNAL",
    "VERIFIERS",
    "Anonymizer",
    "Card",
    "Core",
    "Figure",
    "Profiler",
    "Profiling",
    "Stream",
    "available",
    "load",
    "revisions",
    "system_class",
    "usable",
    "working_rate",
]
