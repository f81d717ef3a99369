"""Runs of ``voicenym live`` beside a telephone switch, over RTP."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.apps.cli.live_sessions.live_runs import Timing, Voice
    from voicenym.live.rtp.rtp_leg import LegAddress


def legs(
    own: str | None, peer: str | None, agent: str | None, agent_peer: str | None
) -> list[LegAddress]:
    """Addresses of the caller's leg and of the agent's; empty without ``--rtp``.

    Raises:
        VoicenymError: one is missing or is no address.
    """
    from voicenym.live.rtp.rtp_leg import LOOPBACK, LegAddress

    if own is None:
        if peer or agent or agent_peer:
            raise VoicenymError("--rtp-peer and --rtp-agent go with --rtp [HOST:]PORT; give it")
        return []
    found = []
    for option, mine, theirs in (("--rtp", own, peer), ("--rtp-agent", agent, agent_peer)):
        if mine is None and theirs is None:
            continue
        if mine is None or theirs is None:
            raise VoicenymError(
                f"{option} and {option}-peer go together: packets of the stated peer alone are "
                "taken; give both"
            )
        host, port = _address(option, mine)
        peer_host, peer_port = _address(f"{option}-peer", theirs, is_peer=True)
        if port is None or not peer_host:
            raise VoicenymError(f"{option} needs [HOST:]PORT, and its peer HOST[:PORT]")
        found.append(
            LegAddress(host or LOOPBACK, port, peer_host, peer_port, (option, f"{option}-peer"))
        )
    return found


def run_on_rtp(
    voice: Voice,
    timing: Timing,
    addresses: list[LegAddress],
    codec: str,
    payload_type: int | None,
    jitter: float,
) -> None:
    """Anonymize the caller's stream until the user or ``--seconds`` ends it.

    Args:
        voice: system and speaker.
        timing: options of the delay.
        addresses: of one leg or two.
        codec: name of the payload.
        payload_type: where it is not the usual one.
        jitter: depth of the jitter buffer in milliseconds.
    """
    from voicenym.apps.cli.live_sessions.live_keys import pressed_keys
    from voicenym.apps.cli.live_sessions.live_runs import follow, held_engine
    from voicenym.apps.cli.live_sessions.live_view import LiveView
    from voicenym.live.rtp.rtp_leg import RtpLeg
    from voicenym.live.rtp.rtp_payload import payload
    from voicenym.live.rtp.rtp_session import PACKET_SECONDS, RtpSession

    carried = payload(codec, timing.rate, payload_type)
    rate = carried.rate
    depth = round(jitter / 1000.0 * rate)
    with ExitStack() as stack:
        made = []
        for address in addresses:
            made.append(RtpLeg(address, carried, depth))
            stack.callback(made[-1].close)  # the next leg may not open
            voice.say(f"{address.options[0]}: RTP at {address.host}:{made[-1].port}")
        engine = held_engine(voice, timing, rate, len(addresses))
        session = stack.enter_context(RtpSession(engine, made))
        keys = stack.enter_context(pressed_keys())
        waiting = engine.margin + depth + round(PACKET_SECONDS * rate)
        view = stack.enter_context(
            LiveView(voice.name, rate, waiting, voice.say, "without the network")
        )
        try:
            follow(session, timing.seconds, view.update, keys)
        finally:
            for line in session.summary():
                voice.say(line)


def _address(option: str, text: str, is_peer: bool = False) -> tuple[str, int | None]:
    """Host and port of ``HOST:PORT``, ``[IPv6]:PORT``; one of the two may be missing.

    Raises:
        VoicenymError: the port is no number from 1 to 65534.
    """
    host, separator, port = text.rpartition(":")
    if text.endswith("]") or (separator and ":" in host and not host.startswith("[")):
        host, port = text, ""  # an IPv6 address without a port
    elif not separator:
        host, port = (text, "") if is_peer else ("", text)
    if port and not (port.isdecimal() and 0 < int(port) < 65_535):
        raise VoicenymError(f"{option} {text}: ports go from 1 to 65534")
    return host.strip("[]"), int(port) if port else None
