"""Download of published weights and their conversion to the package's own format.

:mod:`voicenym.nets.hub` downloads a file and keeps the ledger of digests;
:mod:`voicenym.nets.checkpoint_conversion` converts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.catalogue import Published, entry
from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.hub import CONVERTED, Fetch, fetched, is_pulled, place_of, store
from voicenym.nets.weights.folder_lock import alone
from voicenym.nets.weights.weights_home import VARIABLE


def pull(
    name: str,
    *,
    offline: bool = False,
    accept: Callable[[Published], bool] = lambda published: False,
    fetch: Fetch | None = None,
) -> Path:
    """Fetch and convert an entry of the catalogue, unless it is in the store already.

    Args:
        name, offline, accept, fetch: as of :func:`voicenym.nets.hub.fetched`.

    Returns:
        The folder of the converted weights. A second process that pulls the same waits for the
        first.

    Raises:
        DependencyError, VoicenymError: as of :func:`voicenym.nets.hub.fetched` and
            :func:`voicenym.nets.checkpoint_conversion.convert`.
    """
    folder = store() / name

    def pulled() -> bool:
        if is_pulled(name):
            with suppress(VoicenymError):  # one that was changed is made again
                return Path(place_of(name)) == folder
        return False

    def converted(weights: Path) -> Mapping[str, Any]:
        convert(weights, entry(name).convert, folder)
        return {CONVERTED: configuration(folder)[DIGEST]}

    if pulled():
        return folder
    entry(name)  # no folder of a name that is none
    try:
        with alone(folder):
            if not pulled():  # by another process meanwhile
                fetched(name, offline=offline, accept=accept, fetch=fetch, use=converted)
    except OSError as error:
        raise VoicenymError(
            f"{folder}: cannot be written ({error.strerror}); choose another {VARIABLE}"
        ) from error
    finally:
        with suppress(OSError):
            folder.rmdir()  # where nothing was pulled
    return folder
