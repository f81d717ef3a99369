"""Download of published weights and their conversion to the package's own format.

:mod:`voicenym.nets.hub` downloads a file and keeps the ledger of digests;
:mod:`voicenym.nets.checkpoint_conversion` converts it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.nets.catalogue import Published, entry
from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.hub import Fetch, fetched, is_pulled, place_of, record_conversion, store


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
        The folder of the converted weights.

    Raises:
        DependencyError, VoicenymError: as of :func:`voicenym.nets.hub.fetched` and
            :func:`voicenym.nets.checkpoint_conversion.convert`.
    """
    if is_pulled(name):
        with suppress(VoicenymError):  # one that was changed is made again
            return Path(place_of(name))
    weights = fetched(name, offline=offline, accept=accept, fetch=fetch)
    folder = store() / name
    convert(weights, entry(name).convert, folder)
    record_conversion(name, configuration(folder)[DIGEST])
    return folder
