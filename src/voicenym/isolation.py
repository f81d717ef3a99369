"""Isolation of the process from code in the current folder.

Python looks for modules in the current folder first when it is started with ``-c`` or ``-m``, and
in whatever ``PYTHONPATH`` names. That folder can hold untrusted recordings, and among them a
``numpy.py``. The package calls :func:`isolate_command` before it imports anything else, so this
module imports ``os`` and ``sys`` alone, which every Python has imported before.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder that the package was imported from."""
LINKER = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
LISTS = ("PYTHONPATH", "PATH", *LINKER)
"""Variables that list folders with code; an empty entry of them is the current folder."""
TELEMETRY = {
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, and what asks it
    "DISABLE_TELEMETRY": "1",  # its older name
    "DO_NOT_TRACK": "1",  # what several tools agreed on
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime, from 1.29 on; read when it is imported
    "DISABLE_SAFETENSORS_CONVERSION": "1",  # transformers asks a service of the hub for one
    "WANDB_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
}
"""Variables that turn telemetry of libraries off."""
SETTINGS = {"PYTHONSAFEPATH": "1", **TELEMETRY}
"""Variables of every subprocess: no current folder, no telemetry."""
OWN = "VOICENYM_OWN_ENVIRONMENT"
"""Variable that holds the user's values of all these."""
NAMES = (*LISTS, *SETTINGS, OWN)
COMMANDS = ("voicenym", "voicenym.exe", "voicenym-script.py")


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


_STARTED = _here()


def search_path(entries: list[str]) -> list[str]:
    """Module search path without the current folder.

    Python makes relative entries of ``PYTHONPATH`` absolute when it starts; they are left out too.

    Args:
        entries: of ``sys.path``.

    Returns:
        Absolute entries in their order. The package's own folder is appended if it is missing, so
        that files beside the package hide no module.
    """
    given = _entries(os.environ, "PYTHONPATH")
    named = {os.path.normpath(entry) for entry in given if os.path.isabs(entry)}
    relative = {os.path.normpath(os.path.join(_STARTED, entry)) for entry in given} - named
    kept = [entry for entry in entries if os.path.isabs(entry) and entry not in relative]
    return kept if ROOT in kept else [*kept, ROOT]


def environment() -> dict[str, str]:
    """Environment of a subprocess.

    Returns:
        This process's, with :data:`SETTINGS`, without relative entries in :data:`LISTS`, and with
        what these were in :data:`OWN`.
    """
    own = dict(os.environ)
    found = {**own, **SETTINGS}
    for name in LISTS:
        entries = _entries(own, name)
        kept = [entry for entry in entries if os.path.isabs(entry)]
        if name == "PYTHONPATH" and kept != entries and ROOT not in kept:
            kept.append(ROOT)  # which may have been one of the others
        if kept:
            found[name] = os.pathsep.join(kept)
        elif name in found:
            del found[name]
    if OWN not in own:
        set_by_user = (name for name in (*LISTS, *SETTINGS) if name in own)
        found[OWN] = "\n".join(f"{name}={own[name]}" for name in set_by_user)
    return found


def own_environment() -> dict[str, str]:
    """Environment as the user set it."""
    found = dict(os.environ)
    if OWN in found:
        before = dict(line.split("=", 1) for line in found.pop(OWN).splitlines())
        for name in (*LISTS, *SETTINGS):
            found.pop(name, None)
        found.update(before)
    return found


def isolate() -> None:
    """Isolates this process, which must be the package's own, and all its subprocesses."""
    cleaned = environment()
    sys.path[:] = search_path(sys.path)
    for name in NAMES:
        if name in cleaned:
            os.environ[name] = cleaned[name]
        else:
            os.environ.pop(name, None)


def isolate_command() -> None:
    """Isolates this process if it is the command line.

    ``python -m voicenym`` puts the current folder first, and a script its own. What Python itself
    imports before it comes here (with ``-m`` seven modules, such as ``types``; with a relative
    ``PYTHONPATH`` also ``encodings`` and ``sitecustomize``) cannot be protected from here; ``python
    -P``, and ``python -I`` against ``PYTHONPATH``, protect these too. If the dynamic linker
    searches the current folder, or Python ignores the environment but searches that folder
    (``-E``), the process restarts without either, because both are read at the start only.
    """
    if not _is_command():
        return
    linker = any(not os.path.isabs(e) for name in LINKER for e in _entries(os.environ, name))
    if os.name == "posix" and (linker or unprotected()):
        os.execve(sys.executable, [sys.executable, "-P", *sys.orig_argv[1:]], environment())
    folder = _here() if sys.argv[0] == "-m" else os.path.dirname(os.path.realpath(sys.argv[0]))
    if not sys.flags.safe_path and sys.path[:1] == [folder]:
        del sys.path[0]
    isolate()


def unprotected() -> bool:
    """Whether the environment cannot make subprocesses ignore the current folder."""
    return bool(sys.flags.ignore_environment) and not sys.flags.safe_path


def _is_command() -> bool:
    if sys.argv[:1] != ["-m"]:  # or Python is still looking for the module
        return bool(sys.argv) and os.path.basename(sys.argv[0]) in COMMANDS
    given = sys.orig_argv[-len(sys.argv)]
    return given == "voicenym" or given.startswith("voicenym.") or given.endswith("mvoicenym")


def _entries(variables: dict[str, str] | os._Environ[str], name: str) -> list[str]:
    value = variables.get(name)
    return value.split(os.pathsep) if value else []
