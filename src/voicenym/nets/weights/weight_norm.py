"""Weight normalisation: conversion between published layouts, torch's, and plain weights.

Salimans and Kingma, "Weight normalization", NeurIPS 2016. Published generators keep the pairs
``weight_g``, ``weight_v``; torch calls them ``parametrizations.weight.original0`` and ``1``; for
inference one plain ``weight`` is enough.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn.utils import parametrizations, parametrize


def normalize_weights(network: torch.nn.Module) -> None:
    """Applies weight normalisation to every convolution (Salimans, Kingma 2016)."""
    for part in list(network.modules()):
        if isinstance(part, (torch.nn.Conv1d, torch.nn.ConvTranspose1d)):
            parametrizations.weight_norm(part)


def fold(network: torch.nn.Module) -> None:
    """Replaces weight normalisation by plain weights of the same values, for inference."""
    for part in list(network.modules()):
        if parametrize.is_parametrized(part, "weight"):
            parametrize.remove_parametrizations(part, "weight")


def plain(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """State with plain weights ``weight = g v / |v|`` instead of pairs of length and direction."""
    state = _published_names(state)
    result = {}
    for name, value in state.items():
        if name.endswith(".weight_v"):
            length = state[f"{name[:-1]}g"]
            norm = torch.linalg.vector_norm(value, dim=tuple(range(1, value.ndim)), keepdim=True)
            result[name[:-2]] = value * (length / norm)
        elif not name.endswith(".weight_g"):
            result[name] = value
    return result


def _published_names(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    ours = "parametrizations.weight.original"
    return {
        name.replace(f"{ours}0", "weight_g").replace(f"{ours}1", "weight_v"): value
        for name, value in state.items()
    }


def published(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """State of a network in the published layout, every matrix as length and direction."""
    state = {}
    for name, value in _published_names(network.state_dict()).items():
        if name.endswith(".weight"):
            dims = tuple(range(1, value.ndim))
            state[f"{name}_g"] = torch.linalg.vector_norm(value, dim=dims, keepdim=True)
            state[f"{name}_v"] = value
        else:
            state[name] = value
    return state
