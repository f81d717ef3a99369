"""Loading of published Whisper models: hub (safetensors), CTranslate2 (``model.bin``), or our
folders.

faster-whisper runs on CTranslate2, whose folder holds ``model.bin``, ``config.json`` and
``tokenizer.json`` (:mod:`voicenym.nets.words.whisper.ctranslate2_binary`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.architectures import sizes
from voicenym.nets.checkpoint import CONFIG, WEIGHTS, fill, rebuilding
from voicenym.nets.sealed_folder import check_seal
from voicenym.nets.words.whisper.ctranslate2_binary import BINARY, variables
from voicenym.nets.words.whisper.whisper import KINDS, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing
from voicenym.nets.words.whisper.whisper_vocabulary import SILENT, TOKENIZER, Vocabulary
from voicenym.private import write_inside

OTHERS = ("vocabulary.txt", "vocabulary.json", "preprocessor_config.json")
"""Files of CTranslate2 that need not be there."""
HEAD = 64
"""Elements of a head in every published size."""
TOKENIZER_DIGEST = "sha256 of the tokenizer"
"""Key of its digest in the configuration of our folders."""
ENGLISH = 51_864
"""Tokens of the models that know English alone."""
SILENT_ENGLISH = 50_361
"""Their token of no speech."""

HUB = (
    (r"model\.", ""),
    (r"(\w+)\.embed_positions\.weight", r"\1.positions"),
    (r"decoder\.embed_tokens\.", "decoder.tokens."),
    (r"(\w+)\.layer_norm\.", r"\1.norm."),
    (r"(.*\.\d+)\.self_attn\.([qkv]|out)_proj\.", r"\1.attention.\2."),
    (r"(.*\.\d+)\.encoder_attn\.([qkv]|out)_proj\.", r"\1.cross.\2."),
    (r"(.*\.\d+)\.self_attn_layer_norm\.", r"\1.attention_norm."),
    (r"(.*\.\d+)\.encoder_attn_layer_norm\.", r"\1.cross_norm."),
    (r"(.*\.\d+)\.final_layer_norm\.", r"\1.norm."),
    (r"(.*\.\d+)\.fc1\.", r"\1.widen."),
    (r"(.*\.\d+)\.fc2\.", r"\1.narrow."),
    (r"(.*)\.q\.", r"\1.query."),
    (r"(.*)\.k\.", r"\1.key."),
    (r"(.*)\.v\.", r"\1.value."),
)
"""Replacements from the hub's names to ours, in order."""


class Published(NamedTuple):
    """Whisper network with its special tokens and tokenizer.

    Args:
        network: ready to use.
        writing: numbers of tokens.
        tokenizer: the ``tokenizer.json`` that belongs to it; need not be there.
    """

    network: Whisper
    writing: Writing
    tokenizer: Path


def ctranslate2_files(folder: Path) -> list[Path]:
    """Files of a folder of CTranslate2 that a recogniser reads, without ``config.json``."""
    return [folder / name for name in (BINARY, TOKENIZER, *OTHERS) if (folder / name).is_file()]


def published(place: Path, *, languages: bool = False) -> Published:
    """Whisper model from a folder.

    Args:
        place: folder of ours (:func:`save_published`), of the hub, or of CTranslate2.
        languages: also accept a model of several languages; its prefix is then that of English.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: none of these, another architecture, damaged, or, without ``languages``, a
            model of several languages.
    """
    settings = _json(place / CONFIG)
    if (place / BINARY).is_file():
        check_seal(place, ctranslate2_files(place))
        state = from_ctranslate2(dict(variables(place / BINARY)), place / BINARY)
        never, first = settings.get("suppress_ids", ()), settings.get("suppress_ids_begin", ())
    elif settings.get("kind") == Whisper.kind:
        network = KINDS.load(place)
        _check_tokenizer(place, settings)
        writing = sizes(Writing, settings.get("writing", {}), str(place), "what a Whisper writes")
        if not languages:
            _english(network, place)
        if writing.silent < 0 and network.sizes.tokens == ENGLISH:  # an earlier release's folder
            writing = dataclasses.replace(writing, silent=SILENT_ENGLISH)
        return Published(network, writing, place / TOKENIZER)
    else:
        state = from_hub(_safetensors(place / WEIGHTS))
        path = place / "generation_config.json"
        generation = _json(path) if path.is_file() else settings
        never = generation.get("suppress_tokens") or ()
        first = generation.get("begin_suppress_tokens") or ()
    with rebuilding(place):
        network = Whisper(**_sizes(state, place, settings.get("encoder_attention_heads")))
    fill(network, state, place)
    if not languages:
        _english(network, place)
    writing = dataclasses.replace(
        _writing(network, place / TOKENIZER), never=_real(never), not_first=_real(first)
    )
    return Published(network.eval(), writing, place / TOKENIZER)


def _check_tokenizer(place: Path, settings: Mapping[str, Any]) -> None:
    """Refuses a folder of ours whose tokenizer is another than the one it was written with.

    Folders of earlier releases do not state its digest.
    """
    stated = settings.get(TOKENIZER_DIGEST)
    try:
        if stated is None or hashlib.sha256((place / TOKENIZER).read_bytes()).hexdigest() == stated:
            return
    except OSError as error:
        raise VoicenymError(f"{place / TOKENIZER}: {error.strerror}; it comes with Whisper") from (
            error
        )
    raise VoicenymError(
        f"{place / TOKENIZER}: damaged, or not that of the weights beside it (its SHA-256 is not "
        f"the one in {CONFIG}); delete the folder, and pull, convert or train the weights again"
    )


def _english(network: Whisper, place: Path) -> None:
    """Refuses a model of several languages."""
    if network.sizes.tokens > ENGLISH:
        raise VoicenymError(
            f"{place}: a Whisper of several languages ({network.sizes.tokens} tokens); give one of "
            "English, such as tiny.en"
        )


def _writing(network: Whisper, tokenizer: Path) -> Writing:
    """Special tokens by the model's own vocabulary; models of English have the same in any case."""
    if network.sizes.tokens == ENGLISH:
        return Writing(silent=SILENT_ENGLISH)
    known = Vocabulary(tokenizer)
    prefix = ["<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    numbers = [n for name in prefix if (n := known.number(name)) is not None]
    end = known.number("<|endoftext|>")
    assert end is not None  # which the vocabulary checks
    silent = next((n for name in SILENT if (n := known.number(name)) is not None), -1)
    return Writing(tuple(numbers), end, end, silent=silent)


def save_published(one: Published, folder: Path, card: Mapping[str, Any]) -> None:
    """Writes a Whisper model with its tokenizer to a folder of ours, in half precision.

    Raises:
        DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`, and where there
            is no tokenizer.
    """
    try:
        tokenizer = one.tokenizer.read_bytes()
    except OSError as error:
        raise VoicenymError(f"{one.tokenizer}: {error.strerror}; it comes with Whisper") from error
    about: dict[str, Any] = {
        "writing": dataclasses.asdict(one.writing),
        TOKENIZER_DIGEST: hashlib.sha256(tokenizer).hexdigest(),
    }
    KINDS.save(one.network, folder, card, half=True, **about)
    write_inside(folder / TOKENIZER, tokenizer)


def from_ctranslate2(found: Mapping[str, np.ndarray], where: Path) -> dict[str, torch.Tensor]:
    """State of :class:`Whisper` from arrays of CTranslate2.

    Raises:
        VoicenymError: weights in integers, which have lost precision.
    """
    state: dict[str, torch.Tensor] = {}
    for name, value in found.items():
        if not value.shape:
            continue  # settings, such as the number of heads
        if value.dtype not in (np.float32, np.float16):
            raise VoicenymError(
                f"{where}: {name} is in {value.dtype}; give a conversion in float16 or float32"
            )
        tensor = torch.from_numpy(value.astype(np.float32))
        own = name.replace("/", ".").replace(".gamma", ".weight").replace(".beta", ".bias")
        own = re.sub(r"layer_(\d+)\.", r"layers.\1.", own)
        own = own.replace("position_encodings.encodings", "positions")
        own = own.replace("decoder.embeddings.", "decoder.tokens.")
        own = re.sub(r"^(\w+)\.layer_norm\.", r"\1.norm.", own)
        own = own.replace("ffn.layer_norm.", "norm.").replace("ffn.linear_0.", "widen.")
        own = own.replace("ffn.linear_1.", "narrow.")
        own = re.sub(r"self_attention\.layer_norm\.", "attention_norm.", own)
        own = re.sub(r"(\d)\.attention\.layer_norm\.", r"\1.cross_norm.", own)
        own = re.sub(r"(\d)\.attention\.linear_", r"\1.cross.linear_", own)
        own = own.replace("self_attention.", "attention.")
        match = re.fullmatch(r"(.*\.(attention|cross))\.linear_(\d)\.(weight|bias)", own)
        if match is None:
            state[own] = tensor
            continue
        parts = LINEAR[match[2], int(match[3])]
        for part, piece in zip(parts, tensor.chunk(len(parts)), strict=True):
            if (part, match[4]) != ("key", "bias"):  # zeros: the key has none
                state[f"{match[1]}.{part}.{match[4]}"] = piece.clone()
    return state


LINEAR = {
    ("attention", 0): ("query", "key", "value"),
    ("attention", 1): ("out",),
    ("cross", 0): ("query",),
    ("cross", 1): ("key", "value"),
    ("cross", 2): ("out",),
}
"""Matrices that CTranslate2 stacks in an attention layer."""


def from_hub(found: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """State of :class:`Whisper` from the hub's tensors."""
    state = {}
    for name, value in found.items():
        if name == "proj_out.weight":
            continue  # the embeddings again
        for pattern, own in HUB:
            name = re.sub(f"^{pattern}", own, name)
        state[name] = value.float()
    return state


def _sizes(state: Mapping[str, torch.Tensor], where: Path, heads: Any = None) -> dict[str, int]:
    layers, written = (
        {int(m[1]) for n in state if (m := re.match(rf"{side}\.layers\.(\d+)\.", n))}
        for side in ("encoder", "decoder")
    )
    try:
        states, width = state["encoder.positions"].shape
        bands = state["encoder.conv1.weight"].shape[1]
        positions, tokens = state["decoder.positions"].shape[0], len(state["decoder.tokens.weight"])
    except (KeyError, ValueError) as error:
        raise VoicenymError(f"{where}: of another architecture: {error}; give a Whisper") from error
    return {
        "width": width, "heads": int(heads or max(1, width // HEAD)), "layers": len(layers),
        "bands": bands, "states": states, "tokens": tokens, "positions": positions,
        "decoder_layers": 0 if len(written) == len(layers) else len(written),
    }  # fmt: skip


def _real(numbers: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in numbers if n >= 0)


def _safetensors(path: Path) -> dict[str, torch.Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load_file
    except ImportError as error:
        raise DependencyError("weights in files: pip install safetensors") from error
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise VoicenymError(f"{path}: cannot be read ({error}); fetch it again") from error


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VoicenymError(
            f"{path}: cannot be read ({error}); give a folder of Whisper: ours, the hub's, or "
            "CTranslate2's"
        ) from error
