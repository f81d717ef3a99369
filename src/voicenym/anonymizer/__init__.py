"""Base of all systems: Anonymizer, Card, Stream, the registry and :func:`load`.

A system is a subclass of :class:`Anonymizer` that a package declares as an entry point of the group
``voicenym.systems``: this package in its ``pyproject.toml``, others in theirs.

A subclass makes a *core*: an object that receives blocks ``[row, time]`` at the working rate and
returns blocks of the same rows, in total as long as the input. A row is one channel of one
recording, with its own pseudonym, so that channels and utterances are batched alike. All that
surrounds the core (sample rates, channels, exact length, range, chunking) is done here, once.
"""

from voicenym.anonymizer.anonymizer import Anonymizer
from voicenym.anonymizer.card import Card, Figure
from voicenym.anonymizer.declaration import Declaration
from voicenym.anonymizer.devices import check_device
from voicenym.anonymizer.refusal import Refusal
from voicenym.anonymizer.registry import (
    SYSTEMS,
    available,
    declaration,
    declarations,
    load,
    revisions,
    system_class,
    system_classes,
    usable,
)
from voicenym.anonymizer.stream import (
    MAX_WORKING_RATE,
    MIN_WORKING_RATE,
    Core,
    Profiler,
    Profiling,
    Stream,
    working_rate,
)
from voicenym.anonymizer.system_traits import BY_SIGNAL, BY_VERIFIERS, COMPARISONS
from voicenym.anonymizer.whole_recordings import BLOCK_SECONDS

__all__ = [
    "BLOCK_SECONDS",
    "BY_SIGNAL",
    "BY_VERIFIERS",
    "COMPARISONS",
    "MAX_WORKING_RATE",
    "MIN_WORKING_RATE",
    "SYSTEMS",
    "Anonymizer",
    "Card",
    "Core",
    "Declaration",
    "Figure",
    "Profiler",
    "Profiling",
    "Refusal",
    "Stream",
    "available",
    "check_device",
    "declaration",
    "declarations",
    "load",
    "revisions",
    "system_class",
    "system_classes",
    "usable",
    "working_rate",
]
