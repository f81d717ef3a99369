"""Speaker encoders with SpeechBrain's published weights, after conversion.

Ravanelli et al., "SpeechBrain: a general-purpose speech toolkit", arXiv 2106.04624, publishes
``spkrec-ecapa-voxceleb`` and ``spkrec-xvect-voxceleb`` as folders, of which ``voicenym models
convert`` reads ``embedding_model.ckpt``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.catalogue import CATALOGUE
from voicenym.nets.checkpoint import configuration, fill
from voicenym.nets.hub import place_of
from voicenym.nets.names_and_paths import HUB_NAME, is_hub_name, unambiguous
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.speaker_encoders import make
from voicenym.nets.weights.safetensors_file import conversion, refuse_pickles

CHECKPOINT = "embedding_model.ckpt"
SIZES = {
    "ecapa": {
        "channels": "blocks.0.conv.conv.weight",
        "size": "fc.conv.weight",
        "attention": "asp.tdnn.conv.conv.weight",
        "squeeze": "blocks.1.se_block.conv1.conv.weight",
    },
    "xvector": {
        "channels": "blocks.0.conv.weight",
        "pooled": "blocks.12.conv.weight",
        "size": "blocks.16.w.weight",
    },
}
"""Tensors whose first dimension is the value of an option, by kind and option."""


def published(kind: str, state: Mapping[str, torch.Tensor], source: Path | str) -> Encoder:
    """Published encoder in evaluation mode.

    Args:
        kind: ``ecapa`` or ``xvector``.
        state: tensors by their published names.
        source: of them, for errors.

    Raises:
        VoicenymError: no such kind, or a state of another architecture, in which case the first
            key that differs is named.
    """
    if kind not in SIZES:
        raise VoicenymError(f"no published {kind!r}; there are: {', '.join(SIZES)}")
    options = {
        option: len(state[name])
        for option, name in SIZES[kind].items()
        if name in state and state[name].ndim
    }
    try:
        encoder = make(kind, options)
    except VoicenymError as error:
        raise VoicenymError(f"{source}: of another architecture: {error}") from None
    fill(encoder, {**_counts(encoder), **state}, source)
    return encoder.eval()


def find(kind: str, place: str) -> Path:
    """Folder of the converted weights of a published encoder.

    Args:
        kind: ``ecapa`` or ``xvector``.
        place: a folder that ``voicenym models convert`` wrote, or a name of the catalogue that was
            pulled.

    Raises:
        VoicenymError: there is none of this kind; a checkpoint, or a name on the hub, which must
            be converted first.
    """
    named = HUB_NAME.fullmatch(unambiguous(place) if is_hub_name(place) else place)
    if named is not None:
        there = [p.name for p in CATALOGUE if p.repository == named["name"] and p.convert == kind]
        cure = f"voicenym models pull {there[0]}, and give {there[0]}" if there else ""
        raise VoicenymError(
            f"{place}: a name on the hub, where such weights are checkpoints that torch wrote; "
            f"{cure or conversion(place, kind)}"
        )
    folder = Path(place_of(place)).absolute()
    refuse_pickles(folder, kind)
    found = configuration(folder).get("kind")
    if found != kind:
        raise VoicenymError(f"{folder}: holds no {kind}, but {found}; give a folder of that kind")
    return folder


def _counts(encoder: Encoder) -> dict[str, torch.Tensor]:
    """State without batch counters, which old checkpoints lack."""
    suffix = "num_batches_tracked"
    return {n: v for n, v in encoder.state_dict().items() if n.endswith(suffix)}
