"""Whispers of a few thousand weights in a folder, with a vocabulary of single bytes."""

from __future__ import annotations

import json
from pathlib import Path

import torch

from voicenym.nets.words.whisper.whisper import KINDS, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.nets.words.whisper.whisper_vocabulary import characters_as_bytes

SPECIAL = (
    "<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>",
    "<|transcribe|>", "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip
BYTES = {character: n for n, character in enumerate(sorted(characters_as_bytes()))}
NUMBERS = {name: 256 + i for i, name in enumerate(SPECIAL)}
WRITING = Writing(
    begin=tuple(
        NUMBERS[name] for name in (SPECIAL[1], "<|en|>", "<|transcribe|>", "<|notimestamps|>")
    ),
    end=256,
    words=256,
    silent=NUMBERS["<|nospeech|>"],
)
SIZES = {
    "width": 32, "heads": 2, "layers": 1, "states": 50, "tokens": 264, "positions": 64,
}  # fmt: skip


def tokenizer_text() -> str:
    added = [
        {
            "id": n, "content": name, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True,
        }
        for name, n in NUMBERS.items()
    ]  # fmt: skip
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": added,
            "normalizer": None,
            "pre_tokenizer": {**level, "use_regex": True},
            "post_processor": None,
            "decoder": {**level, "use_regex": True},
            "model": {"type": "BPE", "vocab": BYTES, "merges": []},
        }
    )


def network(seed: int = 0, **sizes: int) -> Whisper:
    torch.manual_seed(seed)
    made = Whisper(**{**SIZES, **sizes})
    with torch.no_grad():
        for value in made.parameters():
            value.copy_(0.2 * torch.randn(value.shape))
    return made.eval()


def always(made: Whisper, weights: dict[int, float]) -> Whisper:
    """The network whose logits are these for these tokens, and 0 for others, at every step."""
    with torch.no_grad():
        made.decoder.norm.weight.zero_()
        made.decoder.norm.bias.zero_()
        made.decoder.norm.bias[0] = 1.0
        made.decoder.tokens.weight[:, 0] = 0.0
        for token, weight in weights.items():
            made.decoder.tokens.weight[token, 0] = weight
    return made


def write(made: Whisper, folder: Path) -> Path:
    """The network in a folder of ours."""
    import dataclasses

    KINDS.save(made, folder, {}, writing=dataclasses.asdict(WRITING))
    (folder / "tokenizer.json").write_text(tokenizer_text())
    return folder
