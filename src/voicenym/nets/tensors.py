"""Tensors in files of others, ``.safetensors`` or torch's, read without running what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.pickles import unpickled

WRAPPERS = ("hubert", "generator", "state_dict", "model")
"""Under which published checkpoints keep their state, beside that of an optimizer."""


def tensors(path: Path) -> dict[str, torch.Tensor]:
    """A network's state, in single precision, from a file.

    Args:
        path: ``.safetensors``, or anything that ``torch.save`` wrote; of the latter only tensors
            and plain values are unpickled.

    Raises:
        DependencyError: safetensors is needed and not installed.
        VoicenymError: the file cannot be read, or holds no tensors by name.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
    held = _safe(path, content) if path.suffix == ".safetensors" else _unpickled(path, content)
    for name in WRAPPERS:
        if isinstance(held, Mapping) and isinstance(held.get(name), Mapping):
            held = held[name]
    if not isinstance(held, Mapping):
        raise VoicenymError(f"{path}: holds no tensors by name; give a checkpoint of a network")
    state = {str(n): v for n, v in held.items() if isinstance(v, torch.Tensor)}
    if not state:
        raise VoicenymError(f"{path}: holds no tensors by name; give a checkpoint of a network")
    return {n: v.float() if v.is_floating_point() else v for n, v in state.items()}


def _safe(path: Path, content: bytes) -> dict[str, torch.Tensor]:
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError as error:
        raise DependencyError("weights in files: pip install safetensors") from error
    try:
        return load(content)
    except (SafetensorError, ValueError) as error:
        raise VoicenymError(f"{path}: no safetensors file ({error}); fetch it again") from error


def _unpickled(path: Path, content: bytes) -> Any:
    try:
        return unpickled(content)
    except DependencyError:
        raise
    except Exception as error:  # unpickling fails in as many ways as there are bytes
        raise VoicenymError(
            f"{path}: damaged, or no checkpoint of tensors alone ({type(error).__name__}); nothing "
            "else is unpickled: fetch it again, or give its tensors as .safetensors"
        ) from error
