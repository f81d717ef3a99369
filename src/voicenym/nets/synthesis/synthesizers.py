"""Synthesis networks by name, in folders with their configuration and digest.

They are stored with plain weights: weight norm is folded.
"""

from __future__ import annotations

from voicenym.nets.architectures import Kinds
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.weights.weight_norm import plain

KINDS: Kinds[Synthesizer] = Kinds(
    "synthesizer",
    {
        "hifigan": "voicenym.nets.synthesis.hifigan:HifiGan",
        "hifigan-nsf": "voicenym.nets.synthesis.hifigan_nsf:HifiGanNsf",
        "acoustic-nsf": "voicenym.nets.synthesis.acoustic_nsf:AcousticNsf",
        "acoustic-nsf-folded": "voicenym.nets.synthesis.acoustic_folded_nsf:AcousticFoldedNsf",
        "acoustic-istft": "voicenym.nets.synthesis.acoustic_istft:AcousticIstft",
        "istft-vocoder": "voicenym.nets.synthesis.istft_vocoder:IstftVocoder",
        "convnext-hifigan": "voicenym.nets.synthesis.convnext_hifigan:ConvNextHifiGan",
    },
    stored=plain,
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
