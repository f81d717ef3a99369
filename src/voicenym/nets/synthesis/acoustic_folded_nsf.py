"""Two-stage synthesizer of baseline B1.a at a laptop's size: acoustic model, then a folded NSF."""

from __future__ import annotations

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.folded_nsf import FoldedNsf
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageOfOptions, TwoStageSynthesizer

SHARED_SIZES = ("content", "speaker", "mels", "width", "rate", "hop")
"""Sizes of a two-stage synthesizer that its acoustic model decides."""


class AcousticFoldedNsf(TwoStageOfOptions):
    """Acoustic model, then :class:`~voicenym.nets.synthesis.folded_nsf.FoldedNsf`."""

    kind = "acoustic-nsf-folded"
    vocoder_class = FoldedNsf


def with_folded_nsf(former: Synthesizer, vocoder: FoldedNsf) -> AcousticFoldedNsf:
    """The acoustic model of a synthesizer, with another vocoder.

    Args:
        former: of two models; its acoustic model is shared, and not copied.
        vocoder: trained with that acoustic model.

    Raises:
        VoicenymError: the two do not fit each other.
    """
    if not isinstance(former, TwoStageSynthesizer):
        raise VoicenymError(f"a vocoder needs a synthesizer of two models, not {former.kind}")
    sizes = {name: former.config()[name] for name in SHARED_SIZES}
    options, shared = vocoder.config(), {**sizes, "features": sizes["mels"]}
    del shared["width"]  # of the acoustic model's own layers
    if wrong := sorted(
        name for name in options if options[name] != shared.get(name, options[name])
    ):
        raise VoicenymError(
            f"the vocoder has {wrong[0]} {options[wrong[0]]}, and the acoustic model "
            f"{shared[wrong[0]]}: give one that was trained with it"
        )
    own = {name: value for name, value in options.items() if name not in shared}
    with torch.random.fork_rng(devices=[]), torch.device("meta"):
        made = AcousticFoldedNsf(**sizes, vocoder=own)
    made.acoustic, made.vocoder = former.acoustic, vocoder
    return made.eval()
