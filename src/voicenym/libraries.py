"""Libraries that take settings from the current folder, or report to their makers: kept from both.

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
def apart(*first: str) -> Iterator[None]:
    """Libraries that are imported inside find no settings in the current folder.

    Telemetry is off for them, in this process and those that it starts. The current folder of the
    process is the package's own meanwhile, which holds no settings of others.

    Args:
        first: modules to import before, where they are installed: what a library of the body
            imports only when it is used.
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
    """Import a library :func:`apart`, or get it where it was.

    Args:
        name: of the module.

    Raises:
        ImportError: it is not installed.
    """
    if name in sys.modules:
        return import_module(name)
    with apart():
        return import_module(name)
