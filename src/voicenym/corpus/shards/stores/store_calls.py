"""Calls of object stores: the package that knows one, and attempts after errors that pass."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any, TypeVar

from voicenym.corpus.shards.stores.store_errors import passes, store_error
from voicenym.errors import CorpusError, DependencyError

T = TypeVar("T")

PACKAGES = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "memory": "fsspec",
}
"""Schemes and the packages that read them."""
ATTEMPTS = 4
"""Times that a call is tried; the store's own package tries each several times."""
PAUSE = 0.2
"""Seconds before the second attempt; doubled before each further one."""


def info_of(location: str) -> dict[str, Any]:
    """What a store says now of an object: its size, and its version under the store's own name."""
    system = system_of(location)
    system.invalidate_cache()
    return dict(system.info(location))


def system_of(location: str) -> Any:
    """Fsspec's file system of a URL.

    Raises:
        CorpusError, DependencyError: it cannot be opened, or its package is missing.
    """
    scheme = location.partition("://")[0]
    try:
        import fsspec  # type: ignore[import-untyped]

        return fsspec.filesystem(scheme)
    except ImportError:
        extra = PACKAGES[scheme]
        cure = extra if scheme in ("gs", "hf") else "'voicenym[stores]'"
        raise DependencyError(
            f"{location}: needs the package {extra}: pip install {cure}"
        ) from None
    except Exception as error:
        raise store_error(location, error) from None


def writes_once(system: Any) -> bool:
    """Whether a store's package knows conditional puts; releases before 2024.12 ignore the wish."""
    from fsspec.asyn import AsyncFileSystem  # type: ignore[import-untyped]

    name = "_put_file" if isinstance(system, AsyncFileSystem) else "put_file"
    calls = (vars(kind).get(name) for kind in type(system).__mro__ if kind is not AsyncFileSystem)
    return any(call is not None and "mode" in inspect.signature(call).parameters for call in calls)


def tried(location: str, call: Callable[[], T]) -> T:
    """Result of a call, which is tried again after errors that pass.

    Args:
        location: URL that the call is about, for errors.

    Raises:
        CorpusError, DependencyError: an error that stays.
    """
    for attempt in range(ATTEMPTS):
        try:
            return call()
        except (CorpusError, DependencyError):
            raise
        except Exception as error:
            if attempt == ATTEMPTS - 1 or not passes(error):
                raise store_error(location, error) from None
            time.sleep(PAUSE * 2**attempt)
    raise AssertionError
