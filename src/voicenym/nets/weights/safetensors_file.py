"""Reading of published safetensors files, and rejection of pickles.

Checkpoints written by torch are recognised by their content, whatever their name; the error names
the command that converts them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.names_and_paths import as_path, is_hub_name

WRAPPERS = ("hubert", "generator", "state_dict", "model_state", "model")
"""Keys of the state in published checkpoints that also hold an optimizer."""
PICKLES = (".ckpt", ".pt", ".pth", ".bin", ".pkl")
"""File suffixes of torch checkpoints."""


def tensors(path: Path, kind: str = "KIND") -> dict[str, torch.Tensor]:
    """State of a network, in single precision, from a safetensors file.

    Args:
        path: of the file.
        kind: what ``voicenym models convert --as`` makes of such a network, for the error.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: the file cannot be read, is no safetensors file, or holds no tensors.
    """
    refuse_pickles(path, kind)
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError as error:
        raise DependencyError("weights in files: pip install safetensors") from error
    try:
        held = load(path.read_bytes())
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
    except (SafetensorError, ValueError) as error:
        raise VoicenymError(f"{path}: no safetensors file ({error}); fetch it again") from error
    return by_name(held, path)


def by_name(held: Any, path: Path) -> dict[str, torch.Tensor]:
    """Tensors of a state, in single precision, unwrapped from nested dictionaries.

    Raises:
        VoicenymError: there are none.
    """
    for name in WRAPPERS:
        if isinstance(held, Mapping) and isinstance(held.get(name), Mapping):
            held = held[name]
    if isinstance(held, Mapping):
        state = {str(n): v for n, v in held.items() if isinstance(v, torch.Tensor)}
        if state:
            return {n: v.float() if v.is_floating_point() else v for n, v in state.items()}
    raise VoicenymError(f"{path}: holds no tensors by name; give a checkpoint of a network")


def refuse_pickles(place: Path, kind: str = "KIND") -> None:
    """Rejects a torch checkpoint, or a folder whose only weights are one.

    Args:
        place: file or folder; missing ones are not rejected here.
        kind: as of :func:`tensors`.

    Raises:
        VoicenymError: with the command that converts it.
    """
    try:
        if place.is_dir():
            files = [path for path in sorted(place.iterdir()) if path.is_file()]
            safe = [path for path in files if path.suffix == ".safetensors"]
            found = any(is_pickled(path) for path in safe or files)
        else:
            found = place.is_file() and is_pickled(place)
    except OSError as error:
        raise VoicenymError(f"{place}: cannot be read ({error.strerror})") from error
    if found:
        text = as_path(place)
        text = f"./{text}" if is_hub_name(text) else text
        raise VoicenymError(
            f"{place}: a checkpoint that torch wrote, which could run a program and is not read "
            f"here; {conversion(text, kind)}"
        )


def conversion(place: str, kind: str) -> str:
    """Advice for errors: how to convert a checkpoint."""
    return (
        f"convert it once and give the folder: voicenym models convert {shlex.quote(place)} "
        f"--as {kind} -o FOLDER"
    )


def is_pickled(path: Path) -> bool:
    """Whether a file is a torch checkpoint, or has such a name and is no safetensors file.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(9)
    if len(head) == 9 and head[8:] == b"{" and head[6:8] == b"\0\0":
        return False  # a safetensors file: the length of its header, in 8 bytes, and the header
    # a zip archive, or a pickle of protocol 2 to 5
    wrote = head.startswith(b"PK\x03\x04") or (head[:1] == b"\x80" and head[1:2] in b"\2\3\4\5")
    return wrote or path.suffix in PICKLES
