"""Safe loading of torch checkpoints, which are pickles and can execute code.

Only ``voicenym models convert`` and ``voicenym models pull`` open them, to convert them to
safetensors; only tensors and plain values are unpickled. Everything else reads through
:mod:`voicenym.nets.weights.safetensors_file`.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.weights import safetensors_file

SAFE = (2, 10)
"""First release of torch with a safe ``weights_only``: before 2.6 a file could execute code all the
same (CVE-2025-32434), before 2.10 it could corrupt memory (CVE-2026-24747).
"""


def state(path: Path) -> dict[str, torch.Tensor]:
    """State of a network, in single precision, from a published checkpoint.

    Args:
        path: anything that ``torch.save`` wrote, or ``.safetensors``.

    Raises:
        DependencyError: an older torch.
        VoicenymError: the file cannot be read, is damaged, holds anything but tensors and plain
            values, or no tensors by name.
    """
    if path.suffix == ".safetensors":
        return safetensors_file.tensors(path)
    try:
        held = _unpickled(path.read_bytes())
    except DependencyError:
        raise
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:  # unpickling fails in as many ways as there are bytes
        raise VoicenymError(
            f"{path}: damaged, or no checkpoint of tensors alone ({type(error).__name__}); nothing "
            "else is unpickled: fetch it again, or save its state_dict alone where it comes from"
        ) from error
    return safetensors_file.by_name(held, path)


def _unpickled(content: bytes) -> Any:
    """Contents of a checkpoint, on the CPU."""
    if tuple(int(part) for part in torch.__version__.split(".")[:2]) < SAFE:
        raise DependencyError(
            f"torch {torch.__version__} does not read checkpoints safely: pip install 'torch>="
            f"{SAFE[0]}.{SAFE[1]}', or give the weights as .safetensors"
        )
    return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
