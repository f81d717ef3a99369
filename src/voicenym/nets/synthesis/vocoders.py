"""Vocoders of two-part synthesizers by name, in folders of their own."""

from __future__ import annotations

from voicenym.nets.architectures import Kinds, Network
from voicenym.nets.synthesis.acoustic_folded_nsf import with_folded_nsf
from voicenym.nets.synthesis.convnext_hifigan import with_hifigan
from voicenym.nets.synthesis.folded_nsf import FoldedNsf
from voicenym.nets.synthesis.hifigan_head import HifiGanHead
from voicenym.nets.synthesis.synthesizer import Synthesizer

KINDS: Kinds[Network] = Kinds(
    "vocoder",
    {
        "folded-nsf": "voicenym.nets.synthesis.folded_nsf:FoldedNsf",
        "hifigan-head": "voicenym.nets.synthesis.hifigan_head:HifiGanHead",
    },
)
make, save, load = KINDS.make, KINDS.save, KINDS.load


def with_vocoder(former: Synthesizer, vocoder: Network) -> Synthesizer:
    """The first part of a synthesizer, which is shared, with another vocoder.

    Args:
        former: of the kind that the vocoder was trained with.
        vocoder: of :data:`KINDS`.

    Raises:
        VoicenymError: the two do not fit each other.
    """
    if isinstance(vocoder, HifiGanHead):
        return with_hifigan(former, vocoder)
    assert isinstance(vocoder, FoldedNsf)
    return with_folded_nsf(former, vocoder)
