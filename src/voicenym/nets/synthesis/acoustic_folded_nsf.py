"""Two-stage synthesizer of baseline B1.a at a laptop's size: acoustic model, then a folded NSF."""

from __future__ import annotations

from voicenym.nets.synthesis.folded_nsf import FoldedNsf
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageOfOptions


class AcousticFoldedNsf(TwoStageOfOptions):
    """Acoustic model, then :class:`~voicenym.nets.synthesis.folded_nsf.FoldedNsf`."""

    kind = "acoustic-nsf-folded"
    vocoder_class = FoldedNsf
