"""A stand-in for the module sounddevice: devices that a test plugs, drives and pulls out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy


class PortAudioError(Exception):
    """As sounddevice raises it."""


class Stream:
    """A stream of a device; :meth:`drive` calls its callback as the device would."""

    def __init__(self, module, kind, options):
        if options["device"] >= len(module.devices) or not module.plugged:
            raise PortAudioError("Error opening Stream: Device unavailable [PaErrorCode -9985]")
        self.kind, self.options, self._module = kind, options, module
        self.active = self.closed = False
        module.streams.append(self)

    def start(self):
        self.active = True

    def abort(self):
        self.active = False

    def close(self):
        self.closed = True

    def drive(self, block=None, status=None):
        """Give a block ``[time, channel]``, or get one; as the library, stop after an error."""
        channels = self.options["channels"]
        if block is None:
            block = numpy.full((self.options["blocksize"], channels), 0.9, numpy.float32)
        try:
            self.options["callback"](block, len(block), None, status)
        except Exception:
            self.active = False
        return block


class FakeSoundDevice:
    """Module with two devices: a microphone and a loudspeaker, both the defaults.

    Args:
        rates: sample rates that the devices take.
    """

    PortAudioError = PortAudioError

    def __init__(self, rates=(16_000, 48_000)):
        self.rates, self.plugged, self.rescans = rates, True, 0
        self.streams = []
        self.devices = [
            device("Headset microphone", 2, 0),
            device("Loudspeaker", 0, 2),
            device("Headset phones", 0, 2),
        ]
        self.default = SimpleNamespace(device=[0, 1])

    def query_devices(self, device=None, kind=None):
        return self.devices if device is None else self.devices[device]

    def query_hostapis(self):
        return [{"name": "Fake"}]

    def _check(self, device, channels, dtype, samplerate):
        if samplerate not in self.rates:
            raise PortAudioError("Invalid sample rate")

    check_input_settings = check_output_settings = _check

    def InputStream(self, **options):
        return Stream(self, "input", options)

    def OutputStream(self, **options):
        return Stream(self, "output", options)

    def _terminate(self):
        assert all(stream.closed for stream in self.streams), "PortAudio would lose open streams"

    def _initialize(self):
        self.rescans += 1

    def open_streams(self, kind):
        return [one for one in self.streams if one.kind == kind and not one.closed]


def device(name, inputs, outputs):
    return {
        "name": name,
        "hostapi": 0,
        "max_input_channels": inputs,
        "max_output_channels": outputs,
        "default_samplerate": 48_000.0,
    }
