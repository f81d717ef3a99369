"""Virtual microphone on Linux: a null sink of PipeWire and a source that other programs see."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from voicenym.errors import DependencyError, VoicenymError
from voicenym.processes import program

SINK = "voicenym"
"""Null sink that gets the anonymized voice."""
MICROPHONE = "voicenym-microphone"
"""Source that other programs record from."""
SECONDS = 10.0
"""Time limit of a command."""
PROCESS = "voicenym.process"
"""Property of both: the process that made them."""
_OF_PROCESS = re.compile(rf"{re.escape(PROCESS)}=(\d+)")
PREFIX = "pipewire:"
VARIABLE = "PIPEWIRE_NODE"
"""Read by PipeWire's plug-in for ALSA when it opens a stream."""


def _pactl(*arguments: str) -> str:
    """Output of a ``pactl`` command.

    Raises:
        DependencyError: it is not installed.
        VoicenymError: it fails, as where no PipeWire or PulseAudio runs.
    """
    try:
        done = program(["pactl", *arguments], seconds=SECONDS)
    except FileNotFoundError:
        raise DependencyError(
            "a virtual microphone needs pactl: install pipewire, pipewire-pulse, pipewire-alsa and "
            "pulseaudio-utils; on macOS and Windows see docs/live.md"
        ) from None
    except TimeoutError:
        raise VoicenymError("pactl does not answer; restart pipewire-pulse") from None
    if done.returncode:
        raise VoicenymError(
            f"pactl {arguments[0]}: {done.stderr.strip()}; start pipewire, wireplumber and "
            "pipewire-pulse in your session"
        )
    return done.stdout


def nodes() -> list[tuple[str, str]]:
    """``(kind, name)`` of the sinks and sources of PipeWire; empty where it does not run."""
    try:
        found = [
            (kind, line.split("\t")[1])
            for kind in ("sink", "source")
            for line in _pactl("list", "short", f"{kind}s").splitlines()
            if line.count("\t") >= 1
        ]
    except VoicenymError:
        return []
    return [(kind, name) for kind, name in found if not name.endswith(".monitor")]


@contextmanager
def virtual_microphone() -> Iterator[str]:
    """Makes the sink :data:`SINK` and the source :data:`MICROPHONE`; gives the sink's name.

    Both are removed afterwards; those that a killed session left, at the start of the next one.
    Programs such as video calls list the source as a microphone; a sink's monitor is hidden by
    browsers.

    Raises:
        VoicenymError: they exist already, or PipeWire refuses.
    """
    _remove_left()
    names = {name for _, name in nodes()}
    if SINK in names or MICROPHONE in names:
        raise VoicenymError(
            f"{SINK} is there already: use it with --out {PREFIX}{SINK}, or end the other voicenym "
            "live"
        )
    own = f"{PROCESS}={os.getpid()}"
    sink = f"sink_properties='device.description={SINK} {own}'"
    source = f"source_properties='device.description={MICROPHONE} {own}'"
    modules = (
        ("module-null-sink", f"sink_name={SINK}", sink),
        ("module-remap-source", f"master={SINK}.monitor", f"source_name={MICROPHONE}", source),
    )
    made: list[str] = []
    try:
        for one in modules:
            made.append(_pactl("load-module", *one))
        yield SINK
    finally:
        for number in reversed(made):
            if re.fullmatch(r"\d+", number.strip()):
                with suppress(VoicenymError):  # gone already, as after a new start of PipeWire
                    _pactl("unload-module", number.strip())


def _remove_left() -> None:
    """Removes sinks and sources of processes that run no more; they cannot be removed at a kill."""
    for line in reversed(_pactl("list", "short", "modules").splitlines()):
        found = _OF_PROCESS.search(line)
        if found and not _is_running(int(found[1])):
            with suppress(VoicenymError):  # another session removes them now
                _pactl("unload-module", line.partition("\t")[0])


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


@contextmanager
def node_of_streams(name: str | None) -> Iterator[None]:
    """Context in which ALSA streams of PipeWire connect to a node.

    Where the node goes away later, PipeWire connects them to another one. (They could be kept from
    that by ``node.dont-reconnect``; then PortAudio 19.6 polls without end and cannot be closed.)

    Args:
        name: of the node; None for the one that the user's environment names, or the default.
    """
    before = os.environ.get(VARIABLE)
    if name is not None:
        os.environ[VARIABLE] = name
    try:
        yield
    finally:
        if before is not None:
            os.environ[VARIABLE] = before
        elif name is not None:
            del os.environ[VARIABLE]


def check_node(name: str, kinds: Sequence[str]) -> None:
    """Check that a node is there.

    Raises:
        VoicenymError: there is none of the name; the message lists the others.
    """
    known = [(kind, one) for kind, one in nodes() if kind in kinds]
    if name not in {one for _, one in known}:
        have = ", ".join(one for _, one in known) or "none; PipeWire does not run"
        raise VoicenymError(f"{PREFIX}{name}: no such node; there are: {have}")
