"""``voicenym live``: a microphone, a call or a pipe, anonymized while it runs."""

from __future__ import annotations

from pathlib import Path

import typer

from voicenym.apps.cli.anonymizing.run_choices import KEY_VARIABLE, PROTECTION
from voicenym.apps.cli.live_sessions.live_conflicts import (
    CODEC,
    JITTER,
    LATENCY,
    MARGIN,
    PCM,
    LiveOptions,
)
from voicenym.apps.cli.options.system_options import DEVICE, LANGUAGE, SETTINGS, VOICE, WEIGHTS
from voicenym.apps.cli.terminal.command_group import command, new_app

app = new_app()
DEVICES, PIPE, TIMING, KEYS = "Devices", "Pipe", "Delay", "Key and speaker"
RTP = "Telephone switch"
LONGEST = 366 * 24 * 3600
"""Seconds of a session."""


@command(
    app,
    "voicenym live --list-devices",
    "voicenym live --virtual-microphone",
    "voicenym live --in headset --out headset --caller right",
    "voicenym live --stdin --stdout --rate 16000 -s recast",
    "voicenym live --rtp 4000 --rtp-peer 127.0.0.1:5004 -s mcadams",
    "voicenym live --virtual-microphone --measure 600",
)
def live(
    list_devices: bool = typer.Option(
        False, "--list-devices", rich_help_panel=DEVICES, help="Print the devices, and end."
    ),
    source: str | None = typer.Option(
        None,
        "--in",
        "-i",
        metavar="DEVICE",
        rich_help_panel=DEVICES,
        help="Input: number, part of a name, or pipewire:NODE; the default one unless given.",
    ),
    target: str | None = typer.Option(
        None, "--out", "-o", metavar="DEVICE", rich_help_panel=DEVICES, help="Output, likewise."
    ),
    monitor: str | None = typer.Option(
        None,
        "--monitor",
        metavar="DEVICE",
        rich_help_panel=DEVICES,
        help="Second output, to hear the anonymized voice; default for the default one.",
    ),
    microphone: bool = typer.Option(
        False,
        "--virtual-microphone",
        rich_help_panel=DEVICES,
        help="Make a microphone that other programs see (Linux, PipeWire), and send there.",
    ),
    caller: str | None = typer.Option(
        None,
        "--caller",
        metavar="left|right",
        rich_help_panel=DEVICES,
        help="Two-channel call: hide the person on this channel; the other one passes.",
    ),
    stdin: bool = typer.Option(
        False, "--stdin", rich_help_panel=PIPE, help="Read PCM from standard input."
    ),
    stdout: bool = typer.Option(
        False, "--stdout", rich_help_panel=PIPE, help="Write PCM to standard output."
    ),
    pcm: str = typer.Option(
        PCM, "--pcm", rich_help_panel=PIPE, help="Format of the samples: s16le or f32le."
    ),
    rtp: str | None = typer.Option(
        None,
        "--rtp",
        metavar="[HOST:]PORT",
        rich_help_panel=RTP,
        help="Take the caller's RTP at this UDP port, at 127.0.0.1 unless a host is given.",
    ),
    rtp_peer: str | None = typer.Option(
        None,
        "--rtp-peer",
        metavar="HOST[:PORT]",
        rich_help_panel=RTP,
        help="The switch at the other end; packets of other addresses are dropped.",
    ),
    rtp_agent: str | None = typer.Option(
        None,
        "--rtp-agent",
        metavar="[HOST:]PORT",
        rich_help_panel=RTP,
        help="Second leg, of the agent, whose voice passes; without it, the caller's voice goes "
        "back to the peer.",
    ),
    rtp_agent_peer: str | None = typer.Option(
        None, "--rtp-agent-peer", metavar="HOST[:PORT]", rich_help_panel=RTP, help="Its peer."
    ),
    rtp_codec: str = typer.Option(
        CODEC, "--rtp-codec", rich_help_panel=RTP, help="pcmu, pcma (G.711), or l16."
    ),
    rtp_type: int | None = typer.Option(
        None,
        "--rtp-type",
        rich_help_panel=RTP,
        help="Payload type; 0 and 8 with G.711, 96 with l16 (11 at 44.1 kHz) unless given.",
    ),
    jitter: float = typer.Option(
        JITTER,
        "--jitter",
        metavar="MS",
        min=0.0,
        max=500.0,
        rich_help_panel=RTP,
        help="Jitter buffer in milliseconds: delay for packets that come late or out of order.",
    ),
    rate: int | None = typer.Option(
        None,
        "--rate",
        min=8000,
        max=192000,
        rich_help_panel=TIMING,
        help="Sample rate in Hz; 16000 where the devices take it, since others add to the delay.",
    ),
    block: float | None = typer.Option(
        None,
        "--block",
        metavar="MS",
        min=2.0,
        max=320.0,
        rich_help_panel=TIMING,
        help="Shortest block in milliseconds; what this machine holds is measured at the start.",
    ),
    margin: float = typer.Option(
        MARGIN,
        "--margin",
        metavar="MS",
        min=0.0,
        max=500.0,
        rich_help_panel=TIMING,
        help="Sound kept against late blocks, in milliseconds; more delay, fewer drop-outs.",
    ),
    latency: float = typer.Option(
        LATENCY,
        "--device-latency",
        metavar="MS",
        min=2.0,
        max=500.0,
        rich_help_panel=TIMING,
        help="Latency that devices are asked for, in milliseconds; their driver may need more.",
    ),
    measure: float | None = typer.Option(
        None,
        "--measure",
        metavar="SECONDS",
        min=3.0,
        max=LONGEST,
        rich_help_panel=TIMING,
        help="Measure delay and drop-outs by chirps from --out to --in; no voice goes out.",
    ),
    seconds: float | None = typer.Option(
        None,
        "--seconds",
        min=0.1,
        max=LONGEST,
        rich_help_panel=TIMING,
        help="End after so many seconds; on a pipe, after so many of its sound.",
    ),
    system: str | None = typer.Option(
        None, "--system", "-s", rich_help_panel="System", help="System; one that works live."
    ),
    protection: str | None = PROTECTION,
    settings: list[str] = SETTINGS,
    weights: Path | None = WEIGHTS,
    voice: str | None = VOICE,
    language: str | None = LANGUAGE,
    device: str = DEVICE,
    key: Path | None = typer.Option(
        None,
        "--key",
        "-k",
        rich_help_panel=KEYS,
        help=f"Key file; else ${KEY_VARIABLE}, else a fresh key, not stored.",
    ),
    speaker: str | None = typer.Option(
        None,
        "--speaker",
        rich_help_panel=KEYS,
        help="Name of the speaker: the same voice with the same key. A new voice unless given.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON (--list-devices, --measure)."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print errors and warnings only."),
) -> None:
    """Anonymize a microphone, a call, a pipe or a telephone line (RTP) while it runs.

    Any fault gives silence and a message; the input never goes out. Keys: m mutes, space stops at
    once, r resumes, q ends.
    """
    from voicenym.apps.cli.live_sessions import live_rtp, live_runs

    if list_devices:
        live_runs.print_devices(as_json)
        return
    legs = live_rtp.legs(rtp, rtp_peer, rtp_agent, rtp_agent_peer)
    LiveOptions(
        devices=bool(source or target or monitor),
        target=bool(target),
        monitor=bool(monitor),
        microphone=microphone,
        caller=caller,
        stdin=stdin,
        stdout=stdout,
        pcm=pcm,
        rtp=bool(legs),
        rtp_codec=rtp_codec,
        rtp_type=rtp_type,
        jitter=jitter,
        margin=margin,
        latency=latency,
        measure=measure,
        seconds=seconds,
        as_json=as_json,
    ).check()
    short = {"weights": weights, "voice_kind": voice, "language": language}
    given = [f"{name}={value}" for name, value in short.items() if value is not None]
    voices = live_runs.live_voice(
        system, protection, [*settings, *given], device, key, speaker, quiet
    )
    timing = live_runs.Timing(rate, block, margin, latency, seconds)
    if legs:
        live_rtp.run_on_rtp(voices, timing, legs, rtp_codec, rtp_type, jitter)
    elif stdin:
        live_runs.run_on_pipe(voices, timing, caller, pcm)
    elif measure is not None:
        live_runs.run_measurement(voices, timing, source, target, microphone, measure, as_json)
    else:
        live_runs.run_on_devices(voices, timing, source, target, monitor, microphone, caller)
