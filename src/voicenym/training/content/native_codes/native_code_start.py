"""Encoders that a training of native codes begins with: those of the codes, or trained ones."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.content import word_code_encoder
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.training.content.native_codes.train_native_codes import NativeCodesConfig


def started(codes: WordCodes, config: NativeCodesConfig) -> WordCodeEncoder:
    """An encoder that gives exactly what that of the codes gives, with more blocks.

    Raises:
        VoicenymError: codes of several books, or fewer blocks than they have.
    """
    size = codes.sizes
    if size.books != 1:
        raise VoicenymError(f"codes of {size.books} books; native codes are of one book")
    if config.before < size.before:
        raise VoicenymError(
            f"before: {config.before} blocks are fewer than the {size.before} of the codes; give "
            "as many, or more"
        )
    if not -1 <= config.silence < size.entries:
        raise VoicenymError(
            f"silence: there is no code {config.silence}; give one of 0 to {size.entries - 1}, or "
            "-1"
        )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        options = {**dataclasses.asdict(size), "before": config.before}
        made = WordCodeEncoder(codes.codebook_digest(), **options)
    known = codes.state_dict()
    made.load_state_dict({name: known.get(name, x) for name, x in made.state_dict().items()})
    for block in list(made.before)[size.before :]:
        torch.nn.init.zeros_(block.narrow.weight)  # type: ignore[arg-type,union-attr]
        torch.nn.init.zeros_(block.narrow.bias)  # type: ignore[arg-type,union-attr]
    return made


def go_on_from(encoder: WordCodeEncoder, place: Path) -> None:
    """Give an encoder of :func:`started` the weights of trained native codes.

    Raises:
        VoicenymError: the folder holds none, or they are for another codebook or of other sizes.
    """
    known = word_code_encoder.load(place)
    if known.codebook != encoder.codebook or known.sizes != encoder.sizes:
        raise VoicenymError(
            f"{place}: native codes for another codebook, or of other sizes; give those of the "
            "codes of --from, and 'before' in the configuration as many blocks"
        )
    own = encoder.state_dict()
    encoder.load_state_dict({name: x for name, x in known.state_dict().items() if name in own})
