"""Sound devices: PortAudio by sounddevice, and nodes of PipeWire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library
from voicenym.live import pipewire
from voicenym.live.node_changes import NodeChanges

INPUT, OUTPUT = "input", "output"
LIVE_RATE = 16_000
"""Preferred sample rate in Hz: that of the systems, so that no conversion adds to the delay."""


@dataclass(frozen=True)
class SoundDevice:
    """A device of PortAudio, or a node of PipeWire.

    Attributes:
        name: to be given to ``--in`` or ``--out``.
        host: the interface behind it, such as ALSA or Core Audio.
        inputs, outputs: channels.
        default: ``input``, ``output``, both, or neither.
    """

    name: str
    host: str
    inputs: int
    outputs: int
    default: tuple[str, ...] = ()


class SoundDevices:
    """The sound devices of this machine.

    Args:
        module: sounddevice, or what stands in for it.

    Attributes:
        gaps: blocks at which a device reported that samples were lost (underflow or overflow).
    """

    def __init__(self, module: ModuleType | Any | None = None) -> None:
        self._module = _portaudio() if module is None else module
        self._changes = NodeChanges()
        self.gaps = 0

    def listed(self) -> list[SoundDevice]:
        """All devices; then the nodes of PipeWire, where it runs."""
        usual = self._module.default.device
        hosts = self._module.query_hostapis()
        found = []
        for number, one in enumerate(self._module.query_devices()):
            default = tuple(
                kind
                for kind, chosen in zip((INPUT, OUTPUT), usual, strict=True)
                if chosen == number
            )
            host = hosts[one["hostapi"]]["name"]
            found.append(
                SoundDevice(
                    one["name"],
                    host,
                    one["max_input_channels"],
                    one["max_output_channels"],
                    default,
                )
            )
        for kind, name in pipewire.nodes():
            source = kind == "source"
            found.append(
                SoundDevice(pipewire.PREFIX + name, "PipeWire", 2 * source, 2 * (not source))
            )
        return found

    def rate(self, wished: int | None, *choices: tuple[str, str | None, int]) -> int:
        """Sample rate that all devices take: the wished one, else 16 kHz, else a device's own.

        Args:
            wished: in Hz; None for none.
            choices: ``(kind, name, channels)`` of each device.

        Raises:
            VoicenymError: a device does not take the wished rate, or none is common to all.
        """
        own = [
            round(self._module.query_devices(self._device(kind, name), kind)["default_samplerate"])
            for kind, name, _ in choices
        ]
        rates = [wished] if wished else [LIVE_RATE, *own, 48_000, 44_100]
        for rate in rates:
            if all(self._takes(rate, *choice) for choice in choices):
                return rate
        names = " and ".join(name or f"default {kind}" for kind, name, _ in choices)
        raise VoicenymError(f"{names}: no common sample rate among {rates} Hz; give --rate HZ")

    def open(
        self,
        kind: str,
        name: str | None,
        rate: int,
        block: int,
        channels: int,
        latency: float,
        callback: Callable[[numpy.ndarray], None],
    ) -> Any:
        """Open and start a device.

        Args:
            kind: ``input`` or ``output``.
            name: a number, part of a name, ``pipewire:NODE``, or None for the default.
            rate: in Hz.
            block: samples of a block.
            channels: of a block.
            latency: in seconds that the device is asked for; it has one of its own.
            callback: gets blocks ``[time, channel]`` of an input, or fills those of an output, in
                a thread of the library.

        Returns:
            The stream, with ``active``, ``stop()`` and ``close()``.

        Raises:
            VoicenymError: the device is not there, or does not take these values.
        """
        device = self._device(kind, name)
        node = _node(name)
        if node is not None:
            pipewire.check_node(node, ("source",) if kind == INPUT else ("sink",))

        def read(block: numpy.ndarray, count: int, when: Any, status: Any) -> None:
            self.gaps += bool(status)
            callback(block)

        make = self._module.InputStream if kind == INPUT else self._module.OutputStream
        try:
            with pipewire.node_of_streams(node):
                stream = make(
                    samplerate=rate,
                    blocksize=block,
                    device=device,
                    channels=channels,
                    dtype="float32",
                    latency=latency,
                    callback=read,
                )
                stream.start()
        except (self._module.PortAudioError, OSError, ValueError) as error:
            raise VoicenymError(f"{name or 'default ' + kind}: {_sentence(error)}") from None
        return stream

    def gone(self, *choices: tuple[str, str | None]) -> list[str]:
        """Names of those nodes of PipeWire that are not there.

        Args:
            choices: ``(kind, name)`` of each device.
        """
        wanted = [(kind, node) for kind, name in choices if (node := _node(name)) is not None]
        if not wanted or not self._changes.happened():
            return []
        there = {(INPUT if kind == "source" else OUTPUT, name) for kind, name in pipewire.nodes()}
        return [pipewire.PREFIX + node for kind, node in wanted if (kind, node) not in there]

    def forget_nodes(self) -> None:
        """End the watch over PipeWire's nodes that :meth:`gone` began."""
        self._changes.close()

    def rescan(self) -> None:
        """Look for devices anew; all streams must be closed."""
        self._module._terminate()
        self._module._initialize()

    def _takes(self, rate: int, kind: str, name: str | None, channels: int) -> bool:
        check = (
            self._module.check_input_settings
            if kind == INPUT
            else self._module.check_output_settings
        )
        try:
            with pipewire.node_of_streams(_node(name)):
                check(self._device(kind, name), channels, "float32", samplerate=rate)
        except (self._module.PortAudioError, ValueError):
            return False
        return True

    def _device(self, kind: str, name: str | None) -> int:
        """Number of a device.

        Raises:
            VoicenymError: none has this name, or several have.
        """
        devices = list(self._module.query_devices())
        key = "max_input_channels" if kind == INPUT else "max_output_channels"
        usable = [number for number, one in enumerate(devices) if one[key] > 0]
        if not usable:
            raise VoicenymError(
                f"no {kind} device is there; connect one, or use --stdin and --stdout"
            )
        if name is None:
            default = self._module.default.device[0 if kind == INPUT else 1]
            return default if default in usable else usable[0]
        if _node(name) is not None:
            name = "pipewire"
        if name.isdecimal() and int(name) in usable:
            return int(name)
        names = {number: str(devices[number]["name"]) for number in usable}
        exact = [number for number in usable if names[number] == name]
        found = exact or [n for n in usable if name.casefold() in names[n].casefold()]
        if not found:
            hint = "install pipewire-alsa" if name == "pipewire" else "voicenym live --list-devices"
            raise VoicenymError(f"{name}: no {kind} device of this name; {hint}")
        if len(found) > 1 and not exact:
            listed = ", ".join(f"{number} ({names[number]})" for number in found)
            raise VoicenymError(f"{name}: several {kind} devices: {listed}; give the number")
        return found[0]


def _node(name: str | None) -> str | None:
    """Name of the node of PipeWire that is meant; None for a device of PortAudio."""
    if name is None or not name.startswith(pipewire.PREFIX):
        return None
    return name.removeprefix(pipewire.PREFIX)


def _sentence(error: Exception) -> str:
    """An error of PortAudio in one line."""
    return " ".join(str(error).split()).removeprefix("Error opening ") or type(error).__name__


def _portaudio() -> ModuleType:
    """The module sounddevice.

    Raises:
        DependencyError: it, or the PortAudio library, is not installed.
    """
    try:
        return library("sounddevice")
    except ImportError:
        raise DependencyError(
            "live sound devices need sounddevice: pip install 'voicenym[live]'"
        ) from None
    except OSError:
        raise DependencyError(
            "live sound devices need the PortAudio library: apt install libportaudio2 (Debian, "
            "Ubuntu), dnf install portaudio (Fedora)"
        ) from None
