"""Storage of a trained network in a folder: ``config.json`` and ``model.safetensors``.

The configuration rebuilds the network and holds the SHA-256 of the weights, so that damaged files
or files of another configuration are not loaded. Nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets import digests
from voicenym.nets.allocation_limit import limited
from voicenym.nets.weights import weight_files
from voicenym.nets.weights.safetensors_file import refuse_pickles
from voicenym.nets.weights.weight_files import CONFIG as CONFIG
from voicenym.nets.weights.weight_files import WEIGHTS as WEIGHTS

MISMATCHES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors of making a network from settings or tensors of other types, shapes or names than its own:
there are as many ways as files.
"""
DIGEST = "sha256"
SOURCE = "its SHA-256"
"""Key of the checkpoint's digest in the card of converted weights."""


def write(
    folder: Path,
    state: Mapping[str, torch.Tensor],
    config: Mapping[str, Any],
    *,
    half: bool = False,
) -> None:
    """Writes weights and their configuration: both or, where that fails, neither.

    In a private folder the files are private too.

    Args:
        folder: made where there is none.
        state: tensors by name.
        config: fit for JSON.
        half: stores floating-point numbers in half precision.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: weights that are not finite, in half precision if so stored; or the folder
            cannot be written.
    """
    try:
        from safetensors.torch import save
    except ImportError as error:
        raise _missing() from error
    kept = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    if half:
        kept = {n: v.half() if v.is_floating_point() else v for n, v in kept.items()}
    if name := not_finite(kept):
        found = "infinite or undefined" + (" in half precision" if half else "")
        raise VoicenymError(
            f"{folder}: {name} would be {found}, and nothing is written; train with a lower rate, "
            "or convert an undamaged checkpoint"
        )
    content = save(kept)
    digest = hashlib.sha256(content).hexdigest()
    text = json.dumps({**config, DIGEST: digest}, indent=2, ensure_ascii=False) + "\n"
    _replace(folder, content, digest, text)


def copy(source: Path, folder: Path) -> None:
    """Copies weights and their configuration as :func:`write` writes them, unread.

    Raises:
        VoicenymError: the source cannot be read, or the folder cannot be written.
    """
    digest = str(configuration(source).get(DIGEST))
    content = weight_files.read(source, digest)
    _replace(folder, content, digest, (source / CONFIG).read_bytes())


def _replace(folder: Path, content: bytes, digest: str, config: bytes | str) -> None:
    try:
        weight_files.replace(folder, content, digest, config)
    except OSError as error:
        raise VoicenymError(
            f"{folder}: cannot be written ({error.strerror}); choose another folder"
        ) from error


def read(folder: Path | str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """Reads the configuration and the tensors, in single precision, of :func:`write`.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: missing, damaged or mismatched files, weights that are not finite, or files
            in the package that differ from this release (:mod:`voicenym.nets.digests`).
    """
    try:
        from safetensors import SafetensorError
        from safetensors.torch import load
    except ImportError as error:
        raise _missing() from error
    folder = Path(folder)
    config = configuration(folder)
    stated = str(config.get(DIGEST))
    path = weight_files.stored(folder, stated)
    content = weight_files.read(folder, stated)
    digest = hashlib.sha256(content).hexdigest()
    of_release = digests.verify(folder / WEIGHTS, digest, path)
    if DIGEST not in config:
        raise VoicenymError(
            f"{folder / CONFIG}: does not say the SHA-256 of {WEIGHTS}; fetch or train "
            "the weights again"
        )
    if config[DIGEST] != digest:
        raise VoicenymError(
            f"{path}: damaged, or of another {CONFIG} (its SHA-256 is {digest[:16]}..., not "
            f"{str(config[DIGEST])[:16]}...); fetch or train it again"
        )
    try:
        state = load(content)
    except (SafetensorError, ValueError) as error:
        raise VoicenymError(f"{path}: no safetensors file ({error}); fetch it again") from error
    state = {n: v.float() if v.is_floating_point() else v for n, v in state.items()}
    if not of_release and (name := not_finite(state)):
        raise VoicenymError(
            f"{path}: {name} is infinite or undefined in it; fetch or train it again"
        )
    return config, state


def is_ours(folder: Path) -> bool:
    """Whether a folder holds a network in the package's own format.

    Raises:
        VoicenymError: its configuration cannot be read.
    """
    return (folder / CONFIG).is_file() and DIGEST in configuration(folder)


def fingerprint(state: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 of tensors in their order, independent of the file format."""
    digest = hashlib.sha256()
    for tensor in state.values():
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def version(folder: Path) -> str:
    """Version of weights: the first half of their digest; empty without weights."""
    there = (folder / CONFIG).is_file()
    return str(configuration(folder).get(DIGEST, ""))[:16] if there else ""


def stamp(folder: Path, without: Collection[str] = ()) -> str:
    """Version of weights and settings: digest of the configuration, which holds the weights'
    digest, without the card and without the places of shared parts; empty without weights.

    Args:
        folder: of the configuration.
        without: ``parts`` of a configuration that do not count.

    Raises:
        VoicenymError: as :func:`configuration`.
    """
    if not (folder / CONFIG).is_file():
        return ""
    found = configuration(folder).items()
    settings = {name: value for name, value in found if name not in ("card", "shared")}
    if isinstance(parts := settings.get("parts"), dict):
        settings["parts"] = {name: v for name, v in parts.items() if name not in without}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def modified(folder: Path, what: str, cure: str) -> int:
    """Time of the last change of a folder's weights in nanoseconds, by which a cache knows them.

    Args:
        folder: of :func:`write`.
        what: that it is to hold, for the error.
        cure: command that makes one.

    Raises:
        VoicenymError: there is no configuration.
    """
    try:
        return (folder / CONFIG).stat().st_mtime_ns
    except OSError as error:
        raise VoicenymError(f"{folder}: no {what} there ({error.strerror}); {cure}") from error


def together(*versions: str) -> str:
    """Combined version of several, in order, without empty ones; a single one is unchanged."""
    some = [version for version in versions if version]
    if len(some) < 2:
        return "".join(some)
    return hashlib.sha256(" ".join(some).encode()).hexdigest()[:16]


def configuration(folder: Path | str) -> dict[str, Any]:
    """Contents of ``config.json``.

    Raises:
        VoicenymError: no such file, or no such configuration in it.
    """
    folder = Path(folder)
    if folder.is_file():
        refuse_pickles(folder)
    path = folder / CONFIG
    try:
        content = path.read_bytes()
        digests.verify(path, content)
        config = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise VoicenymError(
            f"{path}: cannot be read ({why}); give a folder that holds {CONFIG} and {WEIGHTS}"
        ) from error
    if not isinstance(config, dict):
        raise VoicenymError(f"{path}: no configuration of a network; fetch or train it again")
    return config


@contextmanager
def rebuilding(folder: Path | str) -> Iterator[None]:
    """Context manager in which a network is made from a folder's configuration and tensors.

    Raises:
        VoicenymError: it cannot be made of them, or is far larger than they are
            (:mod:`.allocation_limit`); with the folder's name, also where an error inside does not
            know it.
    """
    try:
        with limited(folder):
            yield
    except VoicenymError as error:
        if type(error) is not VoicenymError or str(folder) in str(error):
            raise
        raise VoicenymError(f"{folder}: {error}") from None
    except MISMATCHES as error:
        line = str(error).partition("\n")[0]
        raise VoicenymError(
            f"{folder}: its {CONFIG} and weights make no network ({type(error).__name__}: {line}); "
            "fetch or train them again"
        ) from error


def fill(module: torch.nn.Module, state: Mapping[str, torch.Tensor], where: Path | str) -> None:
    """Loads a state into a network.

    Args:
        module: network whose parameters are replaced.
        state: tensors by the module's names.
        where: source of the tensors, for errors.

    Raises:
        VoicenymError: a missing or unexpected key, or another shape; the first is named.
    """
    own = module.state_dict()
    for name in [*own, *state]:
        if name not in state:
            problem = f"{name} is missing in it"
        elif name not in own:
            problem = f"{name} is in it, and {type(module).__name__} has no such part"
        elif own[name].shape != state[name].shape:
            theirs, ours = list(state[name].shape), list(own[name].shape)
            problem = f"{name} is {theirs} in it, and {ours} in {type(module).__name__}"
        else:
            continue
        raise VoicenymError(f"{where}: of another architecture: {problem}; give one that fits")
    module.load_state_dict(state)


def not_finite(state: Mapping[str, torch.Tensor]) -> str:
    """Name of the first tensor with infinite or undefined elements; empty for none."""
    for name, value in state.items():
        if value.is_floating_point() and value.numel():
            # in one pass, without a tensor of its size, in which NaN is carried on
            least, most = value.aminmax()
            if not (least.isfinite() and most.isfinite()):
                return name
    return ""


def _missing() -> DependencyError:
    return DependencyError("weights in files: pip install safetensors")
