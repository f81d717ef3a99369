"""Directions of drawn accents, from windows of native codes of many speakers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from voicenym.errors import CorpusError
from voicenym.nets.content import drawn_accent
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.training.content.native_codes.native_code_windows import NativeWindow

PART = 100
"""Codes of a part of a window, 4 s: about as long as a recording, whose means vary as much."""


@torch.inference_mode()
def with_directions(
    encoder: WordCodeEncoder,
    codes: WordCodes,
    files: Sequence[tuple[Path, str]],
    read: Callable[[Path], NativeWindow],
    silence: int,
    count: int = drawn_accent.DIRECTIONS,
) -> WordCodeEncoder:
    """The encoder with directions in which the speakers of windows differ most.

    Args:
        encoder: trained.
        codes: whose codebook it has.
        files: windows and their speakers; an empty name for windows of several.
        read: a window.
        silence: code of silent places.
        count: of directions.

    Raises:
        CorpusError: fewer than two speakers with two parts of speech.
    """
    device = next(encoder.parameters()).device
    means, speakers = [], []
    names = sorted({name for _, name in files if name})
    book = codes.to(device).quantizer
    for path, name in files:
        if not name:
            continue
        states = torch.from_numpy(read(path).inputs).float()[None].to(device)
        length = torch.tensor([states.shape[1]], device=device)
        vectors = encoder.encoded(states, length)
        silent = book(vectors.transpose(1, 2)).codes[0, 0] == silence
        for own, quiet in zip(vectors[0].split(PART), silent.split(PART), strict=True):
            if len(own) >= PART // 2:
                means.append(drawn_accent.speech_mean(own, quiet).cpu())
                speakers.append(names.index(name))
    try:
        x = torch.stack(means) if means else torch.zeros(0, encoder.sizes.code)
        directions = drawn_accent.speaker_directions(x, torch.tensor(speakers), count)
    except ValueError:
        raise CorpusError(
            "accents need two speakers, and 8 s of speech of one, to learn from; give more speech"
        ) from None
    return encoder.cpu().with_accents(directions, x.mean(0), silence)
