"""Fetching published weights: once, with their digests kept, their licences accepted, or offline.

Files lie in huggingface_hub's cache. Beside it a ledger holds, for each entry of the catalogue, the
SHA-256 of every file as it was first fetched (or as its authors published it, which is then asked
for) and the licence that was accepted; whatever loads the weights later asks for the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.catalogue import CATALOGUE, Published, entry, known
from voicenym.nets.places import hint, is_path

LEDGER = "voicenym-weights.json"
OFFLINE = "HF_HUB_OFFLINE"
BLOCK = 1 << 20

Fetch = Callable[[str, str, bool], str]
"""Repository, file and whether offline, to the path of the file."""


def pull(
    name: str,
    *,
    offline: bool = False,
    accept: Callable[[Published], bool] = lambda published: False,
    fetch: Fetch | None = None,
    ledger: Path | None = None,
) -> Path:
    """The folder of an entry's files, fetched if they are not here, each with its known digest.

    Args:
        name: of an entry of the catalogue.
        offline: only what was fetched before; so it is with ``HF_HUB_OFFLINE=1`` too.
        accept: asked once, of weights that must not be used commercially; what it said is kept.
        fetch: gets a file; huggingface_hub unless given.
        ledger: where digests are kept; beside huggingface_hub's cache unless given.

    Raises:
        DependencyError: huggingface_hub is not installed.
        VoicenymError: no such entry; not on the hub; a licence that was not accepted; no network;
            or a file of another digest, which is named.
    """
    published = entry(name)
    if not published.repository:
        raise VoicenymError(
            f"{name} is not on the hub: get {published.source}"
            + (
                f", and then: voicenym models convert FILE --as {published.convert} -o FOLDER"
                if published.convert
                else ""
            )
        )
    fetch = fetch or _from_hub
    ledger = ledger or _ledger()
    kept = _read(ledger)
    mine = kept.setdefault(name, {})
    offline = offline or os.environ.get(OFFLINE, "").upper() in ("1", "ON", "YES", "TRUE")
    if not published.commercial and mine.get("accepted") != published.licence:
        if not accept(published):
            raise VoicenymError(
                f"{name} is under {published.licence}: no commercial use; to use it so, say "
                f"voicenym models pull {name} --accept-licence"
            )
        mine["accepted"] = published.licence
    digests: dict[str, str] = mine.setdefault("sha256", {})
    paths = []
    for file in published.files:
        try:
            path = Path(fetch(published.repository, file, offline))
        except DependencyError:
            raise
        except Exception as error:  # of the hub, of whichever library it reads the net with
            raise VoicenymError(_unreachable(published, file, offline, error, kept)) from error
        found = sha256(path)
        wanted = published.digests.get(file) or digests.get(file)
        if wanted is not None and found != wanted:
            raise VoicenymError(
                f"{path}: damaged, or not what {name} was when it was first fetched (its SHA-256 "
                f"is {found[:16]}..., not {wanted[:16]}...); delete it and pull {name} again"
            )
        digests[file] = found
        paths.append(path)
    _write(ledger, kept)
    return paths[0].parent


def place_of(place: str, *, offline: bool = False) -> str:
    """A place of weights: that of an entry of the catalogue by its name, or a path as it is.

    Args:
        place: name, or path of a folder or file, with a separator; ``owner/name`` of the hub stays.
        offline: as of :func:`pull`.

    Raises:
        DependencyError, VoicenymError: as of :func:`pull`; a name that is not in the catalogue.
    """
    if is_path(place):
        return place
    if not known(place):
        names = ", ".join(published.name for published in CATALOGUE)
        raise VoicenymError(f"no weights {place!r}; there are: {names}{hint(place)}")
    return str(pull(place, offline=offline))


def pulled(ledger: Path | None = None) -> list[str]:
    """Names of entries that were fetched on this machine."""
    return _names(_read(ledger or _ledger()))


def sha256(path: Path) -> str:
    """Of a file, in hexadecimal digits.

    Raises:
        VoicenymError: it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror})") from error
    return digest.hexdigest()


def _names(kept: dict[str, Any]) -> list[str]:
    complete = {
        p.name for p in CATALOGUE if set(p.files) <= set(kept.get(p.name, {}).get("sha256", {}))
    }
    return sorted(complete & set(kept))


def _unreachable(
    published: Published, file: str, offline: bool, error: Exception, kept: dict[str, Any]
) -> str:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0]
    here = ", ".join(_names(kept)) or "none"
    why = (
        "was not fetched before, and this is offline" if offline else f"cannot be fetched ({first})"
    )
    return (
        f"{published.name}: {file} {why}. Without a network there work: every system but those "
        f"that need published weights, weights that were pulled before ({here}), and folders of "
        f"weights by their path; or pull {published.name} where there is a network, and copy "
        "HF_HOME"
    )


def _from_hub(repository: str, file: str, offline: bool) -> str:
    try:
        import huggingface_hub
    except ImportError as error:
        raise DependencyError("weights of the hub: pip install 'voicenym[train]'") from error
    return str(huggingface_hub.hf_hub_download(repository, file, local_files_only=offline))


def _ledger() -> Path:
    try:
        from huggingface_hub.constants import HF_HOME
    except ImportError as error:
        raise DependencyError("weights of the hub: pip install 'voicenym[train]'") from error
    return Path(HF_HOME) / LEDGER


def _read(ledger: Path) -> dict[str, Any]:
    try:
        kept = json.loads(ledger.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise VoicenymError(
            f"{ledger}: cannot be read ({error}); mend it, or delete it and trust the next fetch"
        ) from error
    return dict(kept)


def _write(ledger: Path, kept: dict[str, Any]) -> None:
    partial = ledger.with_name(f".{ledger.name}.{os.getpid()}")
    try:
        ledger.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(kept, indent=2) + "\n", "utf-8")
        partial.replace(ledger)
    except OSError as error:
        raise VoicenymError(
            f"{ledger}: digests cannot be kept ({error.strerror}); choose another HF_HOME"
        ) from error
    finally:
        partial.unlink(missing_ok=True)
