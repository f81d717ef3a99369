"""Stores the vocoder of a two-part synthesizer in a folder of its own, as ``nsf/`` of ``b1a``
and ``hifigan/`` of ``b1b`` and ``ssl``.

python tools/vocoder_part.py SYNTHESIZER VOCODER [BITS]

SYNTHESIZER is a folder of ``voicenym train synthesizer`` with the configuration
``synthesizer-nsf-vocoder`` or ``synthesizer-hifigan-small``. Matrices are stored as integers of so
many bits, 8 unless they are given.
"""

from __future__ import annotations

import sys
from pathlib import Path

from voicenym.nets.checkpoint import configuration
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.nets.synthesis.acoustic_folded_nsf import AcousticFoldedNsf
from voicenym.nets.synthesis.convnext_hifigan import ConvNextHifiGan
from voicenym.resynthesis.pipeline.synthesis_settings import TrainingRecord

BITS = 8
OF_TWO_PARTS = (AcousticFoldedNsf, ConvNextHifiGan)


def store(source: Path, target: Path, bits: int = BITS) -> None:
    """Stores the vocoder with the card and the training record of its synthesizer.

    Args:
        source: folder of a synthesizer of one of :data:`OF_TWO_PARTS`.
        target: folder of the vocoder.
        bits: of a weight of a matrix.
    """
    network, record = synthesizers.load(source), TrainingRecord.of(source)
    if not isinstance(network, OF_TWO_PARTS) or record is None:
        kinds = " or ".join(kind.kind for kind in OF_TWO_PARTS)
        sys.exit(f"{source}: is no trained synthesizer of the kind {kinds}")
    card = configuration(source)["card"]
    vocoders.save(network.vocoder, target, card, bits=bits, **record.config())


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    store(Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:]))
