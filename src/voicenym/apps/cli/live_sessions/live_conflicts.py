"""Options of ``voicenym live`` that exclude each other, and what to leave out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from voicenym.errors import VoicenymError

PCM, CODEC = "s16le", "pcmu"
JITTER, MARGIN, LATENCY = 60.0, 10.0, 10.0
"""Defaults in milliseconds."""


@dataclass(frozen=True)
class LiveOptions:
    """What was given of ``voicenym live``, but for system, voice and key.

    Args:
        devices: whether a device was named: input, output or monitor.
        target, monitor: whether these were.
        microphone: whether a virtual microphone is made.
        caller: channel of a call that is hidden; None for all.
        stdin, stdout: whether samples come and go on pipes.
        pcm: format of their samples.
        rtp: whether the sound comes from a telephone switch.
        rtp_codec, rtp_type, jitter: of its packets.
        margin, latency: of devices, in milliseconds.
        measure: seconds of a measurement; None for none.
        seconds: of the session; None for no end.
        as_json: whether figures are printed as JSON.
    """

    devices: bool
    target: bool
    monitor: bool
    microphone: bool
    caller: str | None
    stdin: bool
    stdout: bool
    pcm: str
    rtp: bool
    rtp_codec: str
    rtp_type: int | None
    jitter: float
    margin: float
    latency: float
    measure: float | None
    seconds: float | None
    as_json: bool

    def check(self) -> None:
        """Refuses options that do not go together.

        Raises:
            VoicenymError: the first of them, and the cure.
        """
        reason = next(self._conflicts(), None)
        if reason is not None:
            raise VoicenymError(reason)

    def _conflicts(self) -> Iterator[str]:
        """Sentences that say what does not go together, and the cure."""
        from voicenym.live.pipe_session import FORMATS

        if self.as_json and self.measure is None:
            yield "--json goes with --list-devices or --measure; add one, or leave it out"
        if self.caller not in (None, "left", "right"):
            yield f"--caller is left or right, not {self.caller!r}"
        if self.pcm not in FORMATS:
            yield f"--pcm is {' or '.join(FORMATS)}, not {self.pcm!r}"
        yield from self._conflicts_of_pipes()
        yield from self._conflicts_of_switches()
        if self.microphone and self.target:
            yield "--virtual-microphone is the output; leave out --out"
        if self.measure and (self.monitor or self.caller):
            yield "--measure plays chirps on one line; leave out --monitor and --caller"
        if self.measure is not None and self.seconds is not None:
            yield "--measure SECONDS is the length of the measurement; leave out --seconds"

    def _conflicts_of_pipes(self) -> Iterator[str]:
        if self.stdin != self.stdout:
            yield "--stdin and --stdout go together; give both, or devices"
        if self.stdin and self._has_line:
            yield (
                "--stdin and --stdout use no devices; leave out --in, --out, --monitor, "
                "--virtual-microphone and --measure"
            )
        if self.stdin and (self.margin, self.latency) != (MARGIN, LATENCY):
            yield (
                "a pipe waits for each block; leave out --margin and --device-latency, which are "
                "for devices"
            )
        if self.pcm != PCM and not self.stdin:
            yield "--pcm goes with --stdin and --stdout; give both, or leave it out"

    def _conflicts_of_switches(self) -> Iterator[str]:
        if self.rtp and (self.stdin or self._has_line or self.caller):
            yield (
                "--rtp uses no devices and pipes; leave out --in, --out, --monitor, --stdin, "
                "--virtual-microphone, --caller and --measure"
            )
        packets = (self.rtp_codec, self.rtp_type, self.jitter)
        if not self.rtp and packets != (CODEC, None, JITTER):
            yield (
                "--rtp-codec, --rtp-type and --jitter go with --rtp [HOST:]PORT; give it, or leave "
                "them out"
            )

    @property
    def _has_line(self) -> bool:
        """Whether devices are used: named ones, a virtual microphone, or those of a measurement."""
        return self.devices or self.microphone or bool(self.measure)
