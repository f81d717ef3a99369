"""Import of third-party libraries without settings from the current folder and without telemetry.

matplotlib reads ``matplotlibrc`` in the current folder, and numba ``.numba_config.yaml``, which may
name a folder of pickles to load. onnxruntime reports what it runs to Microsoft in its official
builds, on Linux too since 1.29.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType

from voicenym.isolation import TELEMETRY

_lock = threading.Lock()


@contextmanager
def without_local_settings(*first: str) -> Iterator[None]:
    """Context manager in which imported libraries find no settings in the current folder.

    Telemetry is off for them, in this process and those that it starts. Meanwhile the current
    folder of the process is the package's own, which holds no such settings.

    Args:
        first: installed modules to import before the body: those that its libraries import lazily.
    """
    os.environ.update(TELEMETRY)
    with _lock:
        try:
            before = os.getcwd()
        except OSError:  # it is gone, and holds nothing
            before = ""
        os.chdir(os.path.dirname(os.path.abspath(__file__)))
        try:
            for name in first:
                with suppress(ImportError):
                    import_module(name)
            yield
        finally:
            if before:
                os.chdir(before)
    if "onnxruntime" in sys.modules:
        sys.modules["onnxruntime"].disable_telemetry_events()
    if "numba" in sys.modules:  # which looks again whenever it compiles
        sys.modules["numba.core.config"]._config_fname = os.devnull  # type: ignore[attr-defined]


def library(name: str) -> ModuleType:
    """Imports a library within :func:`without_local_settings`; returns it if it is imported
    already.

    Args:
        name: of the module.

    Raises:
        ImportError: it is not installed.
    """
    if name in sys.modules:
        return import_module(name)
    with without_local_settings():
        return import_module(name)
