"""The two files of a folder of weights: found in whatever form they are stored, replaced together.

``config.json`` names the SHA-256 of the weights. New weights are first written under a name of
their own, which holds that digest; then the new ``config.json`` replaces the old one, and with it
the folder has the new weights; then they get their final name. Whenever a process is killed, the
folder holds either the old pair or the new one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.nets.weights import byte_planes, weight_difference
from voicenym.private import replacing, write_inside

BLOCK = 1 << 20
CONFIG = "config.json"
WEIGHTS = "model.safetensors"
PLANES = "model.planes"
"""The weights in planes of bytes (:mod:`voicenym.nets.weights.byte_planes`), in folders of the
package."""
DIFFERENCE = "model.difference"
"""The weights as their difference from those of a folder beside theirs
(:mod:`voicenym.nets.weights.weight_difference`), in folders of the package."""
LEFT = re.compile(r"\.\.?[0-9a-f]{64}(\.[0-9a-f]{12})?\.safetensors")
"""Names of weights that a killed process left: whole, or in part."""


def replace(folder: Path, content: bytes, digest: str, config: bytes | str) -> None:
    """Writes weights and their configuration, so that a folder never holds parts of two.

    In a private folder the files are private too. Weights that a killed process left under another
    name are removed.

    Args:
        folder: made where there is none.
        content: safetensors file.
        digest: its SHA-256 in hexadecimal digits, as ``config`` states it.
        config: contents of ``config.json``.

    Raises:
        OSError: the folder cannot be written; it then holds what it held before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arriving = _arriving(folder, digest)
    assert arriving is not None
    write_inside(arriving, content)
    try:
        write_inside(folder / CONFIG, config)
    except BaseException:
        arriving.unlink(missing_ok=True)
        raise
    arriving.replace(folder / WEIGHTS)
    for path in folder.iterdir():
        if LEFT.fullmatch(path.name):
            path.unlink(missing_ok=True)


def copy_files(sources: Iterable[Path], folder: Path, config: str) -> None:
    """Copies files of weights in another format, beside a ``config.json`` of ours.

    All of them are copied before the first replaces another, and ``config.json``, without which a
    folder holds no weights, comes last.

    Args:
        sources: files, copied under their names; none is named ``config.json``.
        folder: made where there is none; in a private folder the files are private too.
        config: contents of ``config.json``.

    Raises:
        OSError: a file cannot be read, or the folder cannot be written; it then holds what it held
            before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:  # which get their names in reverse order
        last = files.enter_context(replacing(folder / CONFIG))
        write_inside(last, config)
        for source in sources:
            partial = files.enter_context(replacing(folder / source.name))
            write_inside(partial, b"")
            with source.open("rb") as given, partial.open("r+b") as taken:
                shutil.copyfileobj(given, taken, BLOCK)
        (folder / CONFIG).unlink(missing_ok=True)


def read(folder: Path, digest: str = "") -> bytes:
    """Bytes of a folder's safetensors file, from its planes or a difference where it is stored as
    such.

    Args:
        folder: of the weights.
        digest: that its configuration states, any text; without one, weights that a killed process
            left under their first name are not found.

    Raises:
        VoicenymError: there is none, or it cannot be read.
    """
    path = stored(folder, digest)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise VoicenymError(
            f"{path}: cannot be read ({error.strerror}); give a folder that holds {CONFIG} and "
            f"{WEIGHTS}"
        ) from error
    if path.name == PLANES:
        return byte_planes.joined(content)
    if path.name == DIFFERENCE:
        return _with_difference(path, content)
    return content


def stored(folder: Path, digest: str = "") -> Path:
    """File of a folder's weights; ``model.safetensors`` where there is none.

    Args:
        folder, digest: as of :func:`read`.
    """
    arriving = _arriving(folder, digest)
    if arriving is not None and arriving.is_file():
        return arriving
    forms = (folder / name for name in (WEIGHTS, PLANES, DIFFERENCE))
    return next((one for one in forms if one.is_file()), folder / WEIGHTS)


def _arriving(folder: Path, digest: str) -> Path | None:
    """Name of weights before they get their final one; None for what is no digest."""
    return folder / f".{digest}.safetensors" if re.fullmatch("[0-9a-f]{64}", digest) else None


def _with_difference(path: Path, content: bytes) -> bytes:
    """The safetensors file of a difference."""
    try:
        content = weight_difference.decompressed(content)
        other = path.parent.parent / weight_difference.other_folder(content)
        if stored(other).name == DIFFERENCE:
            raise VoicenymError(f"{other} is a difference itself")
        return weight_difference.applied(content, read(other))
    except (VoicenymError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise VoicenymError(f"{path}: {error}; install the package again") from error
