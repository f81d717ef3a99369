"""Vocoders of two-stage synthesizers by name, in folders of their own."""

from __future__ import annotations

from voicenym.nets.architectures import Kinds
from voicenym.nets.synthesis.folded_nsf import FoldedNsf

KINDS: Kinds[FoldedNsf] = Kinds(
    "vocoder", {"folded-nsf": "voicenym.nets.synthesis.folded_nsf:FoldedNsf"}
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
