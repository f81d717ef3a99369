"""Conversion of published HuBERT checkpoints: layout of the soft encoder, and of transformers.

Names of the soft encoder's layout are ours, but for its prefix ``hubert`` and ``module.`` and for
the positional convolution, whose weight is length times direction there, by position in the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.allocation_limit import limited
from voicenym.nets.checkpoint import fill, is_ours, read
from voicenym.nets.content.hubert import KERNELS, HubertSoft
from voicenym.nets.weights.safetensors_file import refuse_pickles, tensors

HEAD = 64
"""Elements of an attention head of HuBERT, in all its published sizes."""
FILES = ("model.safetensors", "pytorch_model.bin")
"""File names in the layout of transformers."""
MAPS = (
    (r"feature_extractor\.conv_layers\.0\.layer_norm\.", "feature_extractor.norm0."),
    (r"feature_extractor\.conv_layers\.(\d+)\.conv\.", r"feature_extractor.conv\1."),
    (r"feature_projection\.layer_norm\.", "feature_projection.norm."),
    (r"encoder\.pos_conv_embed\.conv\.", "positional_embedding.conv."),
    (r"encoder\.layer_norm\.", "norm."),
    (r"(encoder\.layers\.\d+)\.attention\.", r"\1.self_attn."),
    (r"(encoder\.layers\.\d+)\.layer_norm\.", r"\1.norm1."),
    (r"(encoder\.layers\.\d+)\.final_layer_norm\.", r"\1.norm2."),
    (r"(encoder\.layers\.\d+)\.feed_forward\.intermediate_dense\.", r"\1.linear1."),
    (r"(encoder\.layers\.\d+)\.feed_forward\.output_dense\.", r"\1.linear2."),
)
"""From names in transformers to those here."""
PLAIN = "hubert"
"""Kind of a folder with HuBERT's weights alone, without a projection."""
SOFT = ("proj.weight", "proj.bias", "label_embedding.weight")
"""Parameters of the soft encoder that HuBERT itself lacks."""


def from_published(
    state: Mapping[str, torch.Tensor],
    source: Path,
    *,
    layers: int | None = None,
    heads: int | None = None,
) -> HubertSoft:
    """Soft encoder with published weights.

    Args:
        state: tensors by their published names.
        source: of them, for errors.
        layers: of the transformer that are kept; None for all.
        heads: of attention; None for one for every 64 elements, as in HuBERT.

    Raises:
        VoicenymError: of another architecture; the first name that differs is named.
    """
    state = ours(state)
    if any(name not in state for name in SOFT):
        raise VoicenymError(
            f"{source}: holds no soft encoder ({SOFT[0]} is missing in it); give one of "
            "HuBERT-soft, or train one from it: voicenym train content --from it"
        )
    return _filled(state, source, layers, heads).eval()


def from_hubert(
    place: Path,
    *,
    size: int = 256,
    units: int = 100,
    layers: int | None = None,
    heads: int | None = None,
    seed: int = 0,
) -> HubertSoft:
    """HuBERT with published layers and a new projection that is to be trained.

    Args:
        place: a safetensors file, or its folder, of transformers' HubertModel of base size or like
            it, or of the soft encoder, whose projection is not taken; or a folder that ``voicenym
            models convert --as hubert`` wrote.
        size, units: of the projection.
        layers, heads: as of :func:`from_published`.
        seed: of the projection.

    Raises:
        DependencyError, VoicenymError: as of :func:`from_published` and
            :func:`voicenym.nets.weights.safetensors_file.tensors`.
    """
    refuse_pickles(place, PLAIN)
    path = located(place)
    found = read(place)[1] if is_ours(place) else tensors(path, PLAIN)
    state = {name: value for name, value in ours(found).items() if name not in SOFT}
    width = len(state["norm.weight"]) if "norm.weight" in state else size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        proj, embedding = torch.nn.Linear(width, size), torch.nn.Embedding(units, size)
        state.setdefault("masked_spec_embed", torch.rand(width))
    state.update(zip(SOFT, (proj.weight, proj.bias, embedding.weight), strict=True))
    state = {name: value.detach() for name, value in state.items()}
    return _filled(state, path, layers, heads)


def located(place: Path) -> Path:
    """Path of the checkpoint: ``place`` itself, or the file in it.

    Raises:
        VoicenymError: none, or several and none of :data:`FILES`.
    """
    if place.is_file():
        return place
    if not place.is_dir():
        raise VoicenymError(f"{place}: not found; give a checkpoint of HuBERT, or its folder")
    for name in FILES:
        if (place / name).is_file():
            return place / name
    found = sorted(p for p in place.iterdir() if p.suffix in (".pt", ".safetensors", ".bin"))
    if len(found) != 1:
        count = f"{len(found)} checkpoints" if found else "no checkpoint"
        raise VoicenymError(f"{place}: holds {count}; give the file")
    return found[0]


def ours(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Published state under the names of :class:`HubertSoft`, with the positional weight norm
    folded.
    """
    state = {name.removeprefix("module.").removeprefix("hubert."): v for name, v in state.items()}
    for pattern, name in MAPS:
        state = {re.sub(f"^{pattern}", name, old): value for old, value in state.items()}
    found: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        kind = re.fullmatch(r"(.*self_attn)\.([qkv])_proj\.(weight|bias)", name)
        if kind is None:
            found[name] = value
        elif kind[2] == "q":
            parts = [state.get(f"{kind[1]}.{p}_proj.{kind[3]}", value[:0]) for p in "qkv"]
            found[f"{kind[1]}.in_proj_{kind[3]}"] = torch.cat(parts)
    own = ("feature_", "positional_", "norm.", "encoder.", "proj.", "label_", "masked_")
    return _folded({name: value for name, value in found.items() if name.startswith(own)})


def _folded(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """State with the plain weight of the positional convolution: ``g v / |v|`` for each kernel
    step.
    """
    conv = "positional_embedding.conv."
    for length, direction in (
        (f"{conv}weight_g", f"{conv}weight_v"),
        (f"{conv}parametrizations.weight.original0", f"{conv}parametrizations.weight.original1"),
    ):
        if length in state and direction in state:
            g, v = state.pop(length), state.pop(direction)
            norm = torch.linalg.vector_norm(v, dim=(0, 1), keepdim=True)
            state[f"{conv}weight"] = v * (g / norm)
    return state


def _filled(
    state: dict[str, torch.Tensor], path: Path, layers: int | None, heads: int | None
) -> HubertSoft:
    """Encoder of the state's sizes, with the state."""
    numbers = {int(m[1]) for n in state if (m := re.match(r"encoder\.layers\.(\d+)\.", n))}
    there = len(numbers)
    kept = there if layers is None else layers
    if not 0 < kept <= there:
        raise VoicenymError(f"{path}: has {there} transformer layers, of which {kept} were asked")
    shapes = {
        "channels": ("feature_extractor.norm0.weight", 0),
        "width": ("norm.weight", 0),
        "inner": ("encoder.layers.0.linear1.weight", 0),
        "kernel": ("positional_embedding.conv.weight", 2),
        "size": ("proj.weight", 0),
        "units": ("label_embedding.weight", 0),
    }
    for name in [
        *(name for name, _ in shapes.values()),
        *(f"feature_extractor.conv{i}.weight" for i in range(len(KERNELS))),
    ]:
        if name not in state:
            raise VoicenymError(
                f"{path}: of another architecture: {name} is missing in it; give HuBERT base or "
                "HuBERT-soft"
            )
    options = {option: state[name].shape[dim] for option, (name, dim) in shapes.items()}
    width = options["width"]
    options["groups"] = width // state["positional_embedding.conv.weight"].shape[1]
    options["heads"] = heads or max(1, width // HEAD)
    try:
        with limited(path):
            network = HubertSoft(layers=kept, **options)
    except ValueError as error:
        raise VoicenymError(f"{path}: of another architecture: {error}") from None
    last = tuple(f"encoder.layers.{number}." for number in numbers if number >= kept)
    state = {name: v for name, v in state.items() if not (last and name.startswith(last))}
    fill(network, state, path)
    return network
