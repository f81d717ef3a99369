"""Speaker encoders of others: checkpoints in SpeechBrain's layout, from a folder or the hub.

Ravanelli et al., "SpeechBrain: a general-purpose speech toolkit", arXiv 2106.04624, publishes
``spkrec-ecapa-voxceleb`` and ``spkrec-xvect-voxceleb`` as folders, of which
``embedding_model.ckpt`` is read here. Only tensors are unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets import pickles
from voicenym.nets.catalogue import known
from voicenym.nets.folder import fill
from voicenym.nets.hub import place_of
from voicenym.nets.places import HUB_NAME, hint, is_path, unambiguous
from voicenym.nets.speakers.encoder import Encoder
from voicenym.nets.speakers.weights import make

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
"""By kind and option, the tensor whose first dimension it is."""


def published(kind: str, place: str) -> Encoder:
    """A published encoder, ready to embed.

    Args:
        kind: ``ecapa`` or ``xvector``.
        place: as of :func:`find`.

    Raises:
        DependencyError, VoicenymError: as of :func:`find`; no such kind; or the file is damaged or
            of another architecture, in which case the first key that differs is named.
    """
    if kind not in SIZES:
        raise VoicenymError(f"no published {kind!r}; there are: {', '.join(SIZES)}")
    path = find(place)
    state = unpickled(path)
    options = {
        option: len(state[name])
        for option, name in SIZES[kind].items()
        if isinstance(state.get(name), torch.Tensor) and state[name].ndim
    }
    try:
        encoder = make(kind, options)
    except VoicenymError as error:
        raise VoicenymError(f"{path}: of another architecture: {error}") from None
    fill(encoder, {**_counts(encoder), **state}, path)
    return encoder.eval()


def find(place: str) -> Path:
    """Where a checkpoint lies on this machine; fetched from the hub if it does not.

    Args:
        place: a folder that holds :data:`CHECKPOINT`, such a file, a name of the catalogue, whose
            digest is asked for, or the name of a repository of the hub, ``owner/name`` or
            ``owner/name@revision``, which is kept in huggingface_hub's cache. With
            ``HF_HUB_OFFLINE=1`` in the environment, only the cache is asked.

    Raises:
        DependencyError: huggingface_hub is needed and not installed.
        VoicenymError: there is none.
    """
    name = HUB_NAME.fullmatch(place)
    if name is None:
        if not (is_path(place) or known(place)):
            raise VoicenymError(
                f"{place}: no name of published weights; give a folder that holds {CHECKPOINT}"
                f"{hint(place)}"
            )
        path = Path(place_of(place)).absolute()
        if path.is_dir():
            path = path / CHECKPOINT
        if path.is_file():
            return path
        raise VoicenymError(f"{path}: not found; give a folder that holds {CHECKPOINT}")
    unambiguous(place)
    try:
        import huggingface_hub
    except ImportError as error:
        raise DependencyError(
            f"{place}: a name of the hub, for which: pip install 'voicenym[train]'"
        ) from error
    try:
        fetched = huggingface_hub.hf_hub_download(
            name["name"], CHECKPOINT, revision=name["revision"]
        )
    except Exception as error:  # of the hub, of whichever library it reads the net with, of disks
        raise VoicenymError(
            f"{place}: no such folder, and {CHECKPOINT} could not be fetched from the hub "
            f"({str(error).splitlines()[0] if str(error) else type(error).__name__}). Without a "
            "network, give a folder that holds the file, or a name that was fetched before with "
            "the same HF_HOME"
        ) from error
    return Path(fetched)


def unpickled(path: Path) -> dict[str, Any]:
    """What a checkpoint of torch holds by name; anything but tensors and plain values is refused.

    Raises:
        VoicenymError: the file cannot be read, or is no such checkpoint.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise VoicenymError(
            f"{path}: cannot be read ({error.strerror}); may you read it, and is it a file?"
        ) from error
    try:
        state = pickles.unpickled(content)
    except DependencyError:
        raise
    except Exception as error:  # unpickling fails in as many ways as there are bytes
        raise VoicenymError(
            f"{path}: damaged, or no checkpoint of tensors ({type(error).__name__}); fetch it again"
        ) from error
    if not isinstance(state, Mapping):
        raise VoicenymError(f"{path}: holds no tensors by name; give {CHECKPOINT}")
    return dict(state)


def _counts(encoder: Encoder) -> dict[str, torch.Tensor]:
    """Counts of batches, which old checkpoints lack and nothing needs."""
    suffix = "num_batches_tracked"
    return {n: v for n, v in encoder.state_dict().items() if n.endswith(suffix)}
