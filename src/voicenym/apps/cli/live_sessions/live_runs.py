"""Runs of ``voicenym live``: on devices, on a pipe, and to measure."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages
from voicenym.apps.cli.anonymizing.run_choices import joined_settings, key_of_run, system_of_run
from voicenym.apps.cli.terminal.standard_output import for_sound_alone
from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.anonymizer.stream import Stream
    from voicenym.live.device_session import DeviceSession
    from voicenym.live.live_engine import LiveEngine
    from voicenym.live.live_state import LiveStatus
    from voicenym.live.rtp.rtp_session import RtpSession

CALM_SECONDS = 5.0
"""Time without a drop-out after which the delay that one left is taken back."""
STEP_SECONDS = 0.05
"""Time between two looks at devices, keys and messages."""


@dataclass(frozen=True)
class Voice:
    """The system of a session and the messages to the user; ``make(rate)`` gives a stream."""

    name: str
    make: Callable[[int], Stream]
    say: Messages


@dataclass(frozen=True)
class Timing:
    """Options of the delay: rate in Hz; block, margin and latency of devices in milliseconds; and
    the length of the run in seconds.
    """

    rate: int | None
    block: float | None
    margin: float
    latency: float
    seconds: float | None


def print_devices(as_json: bool) -> None:
    """Print the devices as a table, or as JSON."""
    from voicenym.apps.cli.terminal import tables
    from voicenym.apps.cli.terminal.tables import field
    from voicenym.live.sound_devices import SoundDevices

    records = [
        {**asdict(one), "default": " and ".join(one.default)} for one in SoundDevices().listed()
    ]
    if not records and not as_json:
        typer.echo("no sound devices; use --stdin and --stdout, or connect one", err=True)
    columns = (
        field("name"),
        field("host"),
        field("inputs", right=True),
        field("outputs", right=True),
        field("default"),
    )
    tables.emit(records, columns, as_json=as_json)


def live_voice(
    system: str | None,
    protection: str | None,
    settings: list[str],
    device: str,
    key: Path | None,
    speaker: str | None,
    quiet: bool,
) -> Voice:
    """The system, checked, with the voice of a speaker.

    Raises:
        UnknownSystemError: no such system, or it does not work live.
        VoicenymError: weights are missing, or the key cannot be read.
    """
    import secrets

    import torch

    from voicenym.anonymizer import SYSTEMS, check_device, declaration, load
    from voicenym.apps.cli.measured_systems import measured

    say = Messages(quiet)
    name, written = SYSTEMS.parse(system_of_run(system, protection, say))
    given = joined_settings(written, SYSTEMS.settings(name, settings))
    anonymizer = load(name, **{**given, "device": device, "live": True})
    check_device(device)
    anonymizer.check()
    for line in measured.live_protection(declaration(name)):
        say(line)
    if given:
        say(f"figures are of the default settings of {name}; yours were not measured")
    if own := anonymizer.own_weights:
        say(f"figures are of the bundled weights of {name}; yours in {own} were not measured")
    secret, stored = key_of_run(key, say)
    latest = anonymizer.last_live_revision or anonymizer.revisions[-1]
    revision = min(anonymizer.revision_for(secret), latest)
    for line in measured.revision_in_use(name, revision, latest):
        say(line)
    if not stored and speaker is not None:
        raise VoicenymError(
            "--speaker names a voice of a key; give --key FILE (voicenym key new FILE), or leave "
            "it out"
        )
    if stored and speaker is None:
        say("no --speaker given: this session has a voice of its own")
    pseudonym = secret.pseudonym(speaker or f"live {secrets.token_hex(16)}")
    torch.set_num_threads(1)  # blocks are short: threads would cost more than they bring
    return Voice(name, lambda rate: anonymizer.stream(pseudonym, rate, low_delay=True), say)


def run_on_pipe(voice: Voice, timing: Timing, caller: str | None, pcm: str) -> None:
    """Anonymize standard input to standard output, to its end or for ``--seconds`` of sound."""
    from voicenym.live.echo_check import refuse_echo
    from voicenym.live.live_engine import LiveEngine
    from voicenym.live.pipe_session import run_pipe
    from voicenym.live.sound_devices import LIVE_RATE

    if sys.stdout.isatty():
        raise VoicenymError("standard output is a terminal; send the sound to a program or file")
    rate = timing.rate or LIVE_RATE
    most = None if timing.seconds is None else round(timing.seconds * rate)
    with for_sound_alone() as output:
        refuse_echo(lambda: voice.make(rate), rate, voice.name)
        engine = LiveEngine(
            lambda: voice.make(rate),
            rate,
            round((timing.block or 20.0) / 1000.0 * rate),
            0,
            channels=2 if caller else 1,
            hidden=1 if caller == "right" else 0,
        )
        run_pipe(engine, sys.stdin.buffer, output, pcm, voice.say.warn, most)


def run_on_devices(
    voice: Voice,
    timing: Timing,
    source: str | None,
    target: str | None,
    monitor: str | None,
    microphone: bool,
    caller: str | None,
) -> None:
    """Anonymize an input device to an output device, until the user or ``--seconds`` ends it."""
    from voicenym.apps.cli.live_sessions.live_keys import pressed_keys
    from voicenym.apps.cli.live_sessions.live_view import LiveView
    from voicenym.live.device_session import DeviceSession
    from voicenym.live.sound_devices import SoundDevices

    devices = SoundDevices()
    channels = 2 if caller else 1
    with ExitStack() as stack:
        target = _target(stack, voice, target, microphone)
        rate, engine = _engine(
            voice, timing, devices, source, target, channels,
            hidden=1 if caller == "right" else 0, outputs=2 if monitor else 1,
        )  # fmt: skip
        session = DeviceSession(
            engine, devices, source, target, timing.latency / 1000.0,
            monitor=None if monitor == "default" else monitor, has_monitor=monitor is not None,
        )  # fmt: skip
        stack.enter_context(session)
        keys = stack.enter_context(pressed_keys())
        view = stack.enter_context(LiveView(voice.name, rate, engine.margin, voice.say))
        follow(session, timing.seconds, view.update, keys)


def run_measurement(
    voice: Voice,
    timing: Timing,
    source: str | None,
    target: str | None,
    microphone: bool,
    seconds: float,
    as_json: bool,
) -> None:
    """Measure delay and drop-outs over a line from the output to the input; print both."""
    from voicenym.live.device_session import DeviceSession
    from voicenym.live.line_measurement import measured_line
    from voicenym.live.loopback_chirp import LoopbackProbe
    from voicenym.live.pipewire import MICROPHONE, PREFIX
    from voicenym.live.sound_devices import SoundDevices

    devices = SoundDevices()
    with ExitStack() as stack:
        target = _target(stack, voice, target, microphone)
        if microphone and source is None:
            source = PREFIX + MICROPHONE
        rate, engine = _engine(
            voice, timing, devices, source, target, 1, engine_channels=2, hidden=0
        )
        probe = LoopbackProbe(engine.take, rate)
        session = DeviceSession(
            engine, devices, source, target, timing.latency / 1000.0,
            takes=probe.outgoing, copies=2,
        )  # fmt: skip
        stack.enter_context(session)
        messages: list[str] = []

        def heard(status: LiveStatus, latency: int, new: list[str]) -> None:
            messages.extend(new)
            probe.evaluate()

        follow(session, seconds, heard, None)
        result = measured_line(voice.name, engine, probe, seconds, devices.gaps, messages)
    if as_json:
        typer.echo(json.dumps(result.as_record(), indent=2))
    else:
        typer.echo(result.text())


def _target(stack: ExitStack, voice: Voice, target: str | None, microphone: bool) -> str | None:
    """Name of the output; a virtual microphone is made first, for the time of the run."""
    if not microphone:
        return target
    from voicenym.live.pipewire import MICROPHONE, PREFIX, virtual_microphone

    sink = stack.enter_context(virtual_microphone())
    voice.say(f"other programs see the microphone {MICROPHONE}")
    return PREFIX + sink


def _engine(
    voice: Voice,
    timing: Timing,
    devices: Any,
    source: str | None,
    target: str | None,
    channels: int,
    *,
    engine_channels: int | None = None,
    hidden: int,
    outputs: int = 1,
) -> tuple[int, LiveEngine]:
    """Rate of the devices, and an engine with blocks that this machine holds."""
    from voicenym.live.block_choice import OF_DEVICES
    from voicenym.live.sound_devices import INPUT, OUTPUT

    rate = devices.rate(timing.rate, (INPUT, source, channels), (OUTPUT, target, max(2, channels)))
    channels = engine_channels or channels
    return rate, held_engine(
        voice, timing, rate, channels, hidden=hidden, outputs=outputs, others=OF_DEVICES
    )


def held_engine(
    voice: Voice,
    timing: Timing,
    rate: int,
    channels: int,
    *,
    hidden: int = 0,
    outputs: int = 1,
    others: Sequence[float] = (),
) -> LiveEngine:
    """An engine with blocks that this machine holds; a message names shorter ones that it does not.

    Args:
        voice, timing: of the session.
        rate, channels: of the sound.
        hidden, outputs: as of :class:`~voicenym.live.live_engine.LiveEngine`.
        others: further lengths of blocks, as of
            :func:`~voicenym.live.block_choice.choose_block`.

    Raises:
        VoicenymError: the system returns its input, or the machine holds no block.
    """
    from voicenym.live.block_choice import choose_block
    from voicenym.live.echo_check import refuse_echo
    from voicenym.live.live_engine import LiveEngine
    from voicenym.live.warm_stream import warmed

    refuse_echo(lambda: voice.make(rate), rate, voice.name)
    choice = choose_block(
        lambda: voice.make(rate), rate, (timing.block or 0.0) / 1000.0, others=others
    )
    length = 1000 * choice.block / rate
    for block, load in choice.tried.items():
        voice.say.warn(
            f"this machine does not hold blocks of {1000 * block / rate:g} ms ({100 * load:.0f} % "
            f"load); blocks of {length:g} ms instead"
        )
    voice.say(f"{voice.name}: {rate} Hz, blocks of {length:g} ms, {100 * choice.load:.0f} % load")
    return LiveEngine(
        warmed(lambda: voice.make(rate), rate, choice.block), rate, choice.block,
        round(timing.margin / 1000.0 * rate) + choice.wait,
        channels=channels, hidden=hidden, lag=choice.lag, outputs=outputs, calm=CALM_SECONDS,
    )  # fmt: skip


def follow(
    session: DeviceSession | RtpSession,
    seconds: float | None,
    show: Callable[[LiveStatus, int, list[str]], None],
    keys: Callable[[], str] | None,
) -> None:
    """Look after a session until it ends.

    Raises:
        VoicenymError: the session ended by itself.
    """
    from voicenym.live.live_state import State

    engine = session.engine
    ends = None if seconds is None else time.monotonic() + seconds
    while ends is None or time.monotonic() < ends:
        session.step()
        new = []
        while engine.messages:
            new.append(engine.messages.popleft())
        if engine.state is State.ENDED:
            raise VoicenymError(new[-1] if new else "the session ended")
        show(engine.status(), engine.lag, new)
        for key in keys() if keys else "":
            if key == "m":
                engine.mute(not engine.status().muted)
            elif key in " p":
                engine.stop()
            elif key == "r":
                engine.resume()
            elif key == "q":
                return
        time.sleep(STEP_SECONDS)
