"""Sessions over RTP, with real sockets on the loopback interface and a clock that a test moves."""

from __future__ import annotations

import socket

import numpy
import pytest
from awaited import PATIENCE
from live_line import Clock, Negative, sources, value
from rtp_peer import Peer

from voicenym.errors import VoicenymError
from voicenym.live.live_engine import LiveEngine
from voicenym.live.live_state import State
from voicenym.live.rtp import rtcp
from voicenym.live.rtp.rtcp import HeardReport, SentSoFar
from voicenym.live.rtp.rtp_leg import LegAddress, RtpLeg
from voicenym.live.rtp.rtp_packet import RtpPacket
from voicenym.live.rtp.rtp_payload import payload
from voicenym.live.rtp.rtp_session import QUIET_SECONDS, RtpSession

RATE, COUNT, BLOCK, LATENCY = 8_000, 160, 80, 200
LINEAR = payload("l16", RATE)
STEP = 1 / 32_768


class Call:
    """A session between peers; the test moves the clock, and does the worker's work."""

    def __init__(self, legs=1, depth=0, make=None, carried=LINEAR, ports=True):
        self.clock = Clock()
        self.engine = LiveEngine(
            make or (lambda: Negative(LATENCY)), RATE, BLOCK, 0, channels=legs, clock=self.clock
        )
        self.peers = [Peer(carried, 100 + n) for n in range(legs)]
        self.legs = [
            RtpLeg(
                LegAddress("127.0.0.1", 0, "127.0.0.1", one.address[1] if ports else None),
                carried, depth, self.clock,
            )
            for one in self.peers
        ]  # fmt: skip
        self.session = RtpSession(self.engine, self.legs, self.clock)
        self.outputs = [[] for _ in range(legs)]
        self.said = []
        self.engine.work()
        self.number = 0

    def tick(self, *given, works=True):
        """20 ms: packets of the caller (and of the agent) in, packets out."""
        self.clock.now += COUNT / RATE
        for peer, leg, data in zip(self.peers, self.legs, given, strict=False):
            for one in [data] if isinstance(data, bytes) else data:
                peer.send(one, leg.port)
        self.session.tick()
        while works and self.engine.work():
            pass
        self.session.step()
        while self.engine.messages:
            self.said.append(self.engine.messages.popleft())
        for peer, kept in zip(self.peers, self.outputs, strict=True):
            kept.append(peer.samples())
        self.number += 1

    def block(self):
        """Samples that tell the number of the tick."""
        return numpy.full(COUNT, value(self.number), numpy.float32)

    def ticks(self, count, **options):
        for _ in range(count):
            self.tick(*[peer.packet(self.block()) for peer in self.peers], **options)

    def whole(self, peer=0):
        return numpy.concatenate(self.outputs[peer])

    def close(self):
        for one in (*self.peers, *self.legs):
            one.close()


@pytest.fixture
def call():
    made = []

    def make(**options):
        made.append(Call(**options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def numbers(out):
    """Ticks whose sound came out, of samples that were rounded to 16 bits."""
    return sources(out[out < -0.2])


def test_the_caller_comes_back_anonymized_packet_by_packet(call):
    call = call()
    call.ticks(40)
    out = call.whole()
    assert len(out) == 40 * COUNT
    assert (out <= 0).all(), "a sample of the caller came back"
    heard = numbers(out)
    assert heard >= set(range(2, 30))  # the first packet validates the source
    assert call.legs[0].counters.received == 39
    assert call.legs[0].source.lost == 0


def test_packets_are_numbered_in_order_from_drawn_values(call):
    starts = set()
    for _ in range(2):
        one = call()
        one.tick(one.peers[0].packet(one.block()))
        one.ticks(5)
        one.outputs.clear()
        for _ in range(5):
            one.session.tick()
        found = one.peers[0].heard()
        assert [p.sequence - found[0].sequence for p in found] == list(range(5))
        assert [p.timestamp - found[0].timestamp for p in found] == [COUNT * n for n in range(5)]
        assert len({p.ssrc for p in found}) == 1
        assert {p.payload_type for p in found} == {96}
        starts.add((found[0].ssrc, found[0].sequence, found[0].timestamp))
    assert len(starts) == 2


def test_of_two_legs_the_caller_is_hidden_and_the_agent_passes(call):
    call = call(legs=2)
    for _ in range(40):
        caller, agent = call.peers
        call.tick(caller.packet(call.block()), agent.packet(call.block() + numpy.float32(0.1)))
    to_caller, to_agent = call.whole(0), call.whole(1)
    assert (to_agent <= 0).all(), "a sample of the caller reached the agent"
    assert (to_caller >= 0).all(), "the caller hears the agent alone"
    hidden, passed = to_agent < -0.2, to_caller > 0.2
    both = hidden & passed
    assert both.sum() > 30 * COUNT
    # one delay for both
    numpy.testing.assert_allclose(to_caller[both], 0.1 - to_agent[both], atol=2 * STEP)


def test_lost_packets_are_silence_and_reordered_ones_come_in_order(call):
    call = call(depth=3 * COUNT)
    peer = call.peers[0]
    call.ticks(10)
    first = peer.packet(call.block())  # of tick 10, and comes after that of tick 11
    call.tick([])
    call.tick([peer.packet(call.block()), first])
    peer.packet(call.block())  # of tick 12, lost
    call.tick([])
    call.ticks(30)
    out = call.whole()
    heard = numbers(out)
    assert heard >= {10, 11, *range(13, 30)}
    assert 12 not in heard
    order = [n for n in (round((-s - 0.3) * 1000) for s in out[out < -0.2])]
    assert order == sorted(order)
    gap = numpy.flatnonzero(numpy.isclose(out, -value(13), atol=2 * STEP))[0]
    assert not out[gap - COUNT : gap].any(), "silence and not the packet before"
    assert call.legs[0].source.lost == 1


def test_duplicates_are_heard_once(call):
    call = call(depth=COUNT)
    for _ in range(30):
        data = call.peers[0].packet(call.block())
        call.tick([data, data, data])
    out = call.whole()
    for n in numbers(out) - {max(numbers(out))}:
        assert numpy.isclose(out, -value(n), atol=2 * STEP).sum() <= COUNT


def test_packets_of_strangers_are_dropped_whatever_they_hold(call):
    call = call()
    call.ticks(10)
    stranger = Peer(LINEAR, call.peers[0].ssrc)
    stranger.sequence, stranger.timestamp = call.peers[0].sequence, call.peers[0].timestamp
    for _ in range(20):
        for _ in range(2):
            stranger.send(stranger.packet(numpy.full(COUNT, 0.9, numpy.float32)), call.legs[0].port)
        call.ticks(1)
    stranger.close()
    out = call.whole()
    assert call.legs[0].counters.strangers == 40
    assert not (out < -0.5).any()
    assert (out <= 0).all()
    assert numbers(out) >= set(range(2, 25))
    assert sum("dropped" in said for said in call.said) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x80", b"OPTIONS sip:x SIP/2.0\r\n\r\n", b"\x00" * 40,
        RtpPacket(96, 1, 2, 3, b"odd").packed(), b"\xff" * 500,
    ],
)  # fmt: skip
def test_malformed_packets_are_counted_and_dropped(call, data):
    call = call()
    for _ in range(30):
        call.tick([data, call.peers[0].packet(call.block())])
    assert call.legs[0].counters.malformed == 30
    assert numbers(call.whole()) >= set(range(2, 25))
    assert call.engine.state is State.RUNNING


def test_other_payload_types_and_empty_packets_are_left_out(call):
    call = call()
    for _ in range(20):
        peer = call.peers[0]
        tone = RtpPacket(101, 7, 8, peer.ssrc, b"\x05\x0a\x01\x40").packed()
        empty = RtpPacket(96, 7, 8, peer.ssrc, b"").packed()
        call.tick([tone, empty, peer.packet(call.block())])
    assert call.legs[0].counters.other == 40
    assert numbers(call.whole()) >= set(range(2, 15))


def test_comfort_noise_and_tones_of_the_caller_are_neither_lost_nor_the_end_of_the_stream(call):
    """They take numbers of the stream; while they come, the caller is there and silent."""
    call = call()
    call.ticks(20)
    peer, silent = call.peers[0], call.number
    for _ in range(round(QUIET_SECONDS / 0.02) + 50):
        call.tick(RtpPacket(13, peer.sequence, peer.timestamp, peer.ssrc, b"\x40").packed())
        peer.sequence = (peer.sequence + 1) % 2**16
        peer.timestamp = (peer.timestamp + COUNT) % 2**32
    assert not numpy.concatenate(call.outputs[0][silent + 3 :]).any()
    stray = RtpPacket(13, (peer.sequence + 30_000) % 2**16, 0, peer.ssrc, b"\x40").packed()
    call.tick([stray, stray])
    call.ticks(20)
    assert call.legs[0].source.lost == 0
    assert call.legs[0].source.fraction_lost() == 0
    assert call.engine.state is State.RUNNING
    assert call.said == []
    assert (call.outputs[0][-1] < 0).all()


def test_another_ssrc_is_a_new_stream_and_nothing_of_the_old_one_follows(call):
    makes = []

    def make():
        makes.append(True)
        return Negative(LATENCY)

    call = call(depth=2 * COUNT, make=make)
    call.ticks(20)
    call.peers[0].ssrc, call.peers[0].sequence, call.peers[0].timestamp = 999, 5, 77
    call.ticks(1)
    assert len(makes) == 1, "one packet of another source changes nothing"
    call.ticks(1)
    changed = call.number
    call.ticks(20)
    assert len(makes) == 2
    assert call.legs[0].counters.streams == 2
    assert call.said == ["the caller's stream is another one; a new start follows"]
    after = numpy.concatenate(call.outputs[0][changed:])
    assert (after <= 0).all()
    assert after.any()
    assert min(numbers(after)) >= 21


def test_a_sender_that_begins_its_numbers_anew_is_a_new_stream(call):
    call = call()
    call.ticks(20)
    call.peers[0].sequence, call.peers[0].timestamp = 30_000, 123_456_789
    call.ticks(20)
    assert call.legs[0].counters.streams == 2
    assert call.legs[0].counters.stray == 1
    assert (call.outputs[0][-1] < 0).all()


def test_a_stream_that_stops_is_lost_and_found_again(call):
    call = call()
    call.ticks(20)
    silent = call.number
    for _ in range(round(QUIET_SECONDS / 0.02) + 20):
        call.tick([])
    assert call.engine.state is State.LOST
    assert call.said == ["caller's RTP: no packets come; silence goes out until it is back"]
    quiet = numpy.concatenate(call.outputs[0][silent + 3 :])
    assert len(quiet) > 100 * COUNT, "silence is sent on"
    assert not quiet.any()
    back = call.number
    call.peers[0].timestamp += 120 * COUNT
    call.ticks(20)
    assert call.engine.state is State.RUNNING
    after = numpy.concatenate(call.outputs[0][back:])
    assert (after <= 0).all()
    assert (call.outputs[0][-1] < 0).all()
    assert min(numbers(after)) >= back


FAULTS = {
    "exception": lambda out: 1 / 0,
    "NaN": lambda out: out * float("nan"),
    "too long": lambda out: out.repeat(9),
    "none": lambda out: None,
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_of_the_system_is_silence_on_both_legs(call, fault):
    made = []

    def make():
        made.append(True)
        if len(made) > 1:
            return Negative(LATENCY)
        return Negative(LATENCY, lambda n, out: fault(out) if n == 41 else out)

    call = call(legs=2, make=make)
    call.ticks(20)
    assert (call.outputs[1][-2] < 0).any()
    call.ticks(5)
    assert call.engine.state is State.FAILED
    assert len(call.said) == 1
    for peer in (0, 1):
        assert not numpy.concatenate(call.outputs[peer][-3:]).any()
    call.ticks(40)
    assert (call.whole(1) <= 0).all()
    assert (call.outputs[1][-1] < 0).all()


def test_a_worker_that_hangs_leaves_silence_and_packets_go_on(call):
    call = call()
    call.ticks(20)
    call.ticks(40, works=False)
    assert call.engine.state is State.OVERLOADED
    assert all(len(out) == COUNT for out in call.outputs[0])
    assert not numpy.concatenate(call.outputs[0][25:60]).any()


def test_a_session_that_ended_sends_zeros_only(call):
    call = call()
    call.ticks(10)
    call.engine.end("enough")
    count = len(call.outputs[0])
    call.ticks(10)
    assert not numpy.concatenate(call.outputs[0][count:]).any()


def test_a_peer_without_a_port_is_the_first_valid_stream_of_its_host(call):
    call = call(ports=False)
    call.ticks(1)
    assert not len(call.whole()), "nowhere to send yet"
    stranger = Peer(LINEAR, 5)
    stranger.send(stranger.packet(call.block()), call.legs[0].port)
    call.ticks(20)
    assert (call.outputs[0][-1] < 0).all()
    for _ in range(5):
        stranger.send(stranger.packet(call.block()), call.legs[0].port)
    call.ticks(1)
    assert call.legs[0].counters.strangers == 5
    assert not len(stranger.samples())
    stranger.close()


def test_our_own_packets_that_come_back_are_no_speech(call):
    call = call()
    call.ticks(10)
    leg = call.legs[0]
    first = leg._ssrc
    loop = RtpPacket(96, 3, 4, first, LINEAR.encode(call.block())).packed()
    call.tick([loop, loop])
    assert leg._ssrc != first, "a collision: another SSRC once"
    again = RtpPacket(96, 3, 4, leg._ssrc, LINEAR.encode(call.block())).packed()
    second = leg._ssrc
    call.tick([again])
    assert leg._ssrc == second, "then it is a loop"
    assert leg.counters.looped == 2
    assert leg.counters.streams == 1


def test_reports_go_to_the_next_port_and_a_goodbye_ends_the_stream(call):
    call = call(ports=False)
    peer = call.peers[0]
    reports = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:  # a peer with a free next port
        try:
            reports.bind(("127.0.0.1", peer.address[1] + 1))
            break
        except OSError:
            peer.close()
            call.peers[0] = peer = Peer(LINEAR, 100)
    reports.settimeout(PATIENCE)
    call.ticks(450)  # nine seconds
    first = rtcp.heard(reports.recv(2_000), 0.0, HeardReport())
    assert first is not None
    assert first.last > 0
    left = rtcp.goodbye(SentSoFar(peer.ssrc, 1.0, 0, 0, 0), "x")
    reports.sendto(left, ("127.0.0.1", call.legs[0].port + 1))
    call.tick([])
    assert call.legs[0].source is None
    for _ in range(3):
        call.tick([])
    assert not call.outputs[0][-1].any()
    call.legs[0].close()
    last = b""
    while True:
        reports.setblocking(False)
        try:
            last = reports.recv(2_000)
        except BlockingIOError:
            break
    found = rtcp.heard(last, 0.0, HeardReport())
    assert found is not None
    assert len(found.left) == 1, "we say goodbye"
    reports.close()


def test_a_flood_does_not_keep_the_sender_waiting(call):
    call = call()
    call.ticks(5)
    for _ in range(3):
        call.tick([b"flood"] * 600)
    assert [len(out) for out in call.outputs[0]] == [COUNT] * 8


def test_a_port_that_is_taken_and_an_unknown_peer_are_errors(call):
    port = call().legs[0].port
    with pytest.raises(
        VoicenymError, match=f"--rtp 127.0.0.1:{port}: .*this UDP port and the next"
    ):
        RtpLeg(LegAddress("127.0.0.1", port, "127.0.0.1", 9), LINEAR, 0)
    with pytest.raises(VoicenymError, match=r"--rtp-peer nowhere\.invalid: .*IP address"):
        RtpLeg(LegAddress("127.0.0.1", 0, "nowhere.invalid", 9), LINEAR, 0)


def test_threads_run_a_call_and_end(call):
    """Without a clock of the test: nothing depends on how fast the machine is."""
    peer = Peer(LINEAR)
    leg = RtpLeg(LegAddress("127.0.0.1", 0, "127.0.0.1", peer.address[1]), LINEAR, 2 * COUNT)
    engine = LiveEngine(lambda: Negative(LATENCY), RATE, BLOCK, 0)
    found = []
    with RtpSession(engine, [leg]) as session:
        while not any((one == -0.5).all() for one in found):
            peer.send(peer.packet(numpy.full(COUNT, 0.5, numpy.float32)), leg.port)
            peer.socket.settimeout(0.02)
            try:
                found.append(LINEAR.decode(peer.socket.recv(2_000)[12:]))
            except TimeoutError:
                continue
            session.step()
        assert (numpy.concatenate(found) <= 0).all()
        assert (found[-1] == -0.5).any()
        assert "packets" in session.summary()[0]
    assert not session._pump.is_alive()
    assert not session._worker.is_alive()
    peer.close()


STAGES = {
    "receiving": ("receive", "legs"),
    "the jitter buffer": ("take", "legs"),
    "sending": ("send", "legs"),
    "input of the engine": ("give", "engine"),
    "output of the engine": ("take", "engine"),
}


@pytest.mark.parametrize(("method", "where"), STAGES.values(), ids=STAGES)
def test_a_fault_at_any_stage_ends_the_session_and_nothing_of_the_caller_comes_out(
    call, method, where
):
    call = call(legs=2)
    call.ticks(10)

    def fails(*given):
        raise RuntimeError("secret")

    setattr(call.legs[0] if where == "legs" else call.engine, method, fails)
    call.session._clock = lambda: 0.0
    call.session._run()  # as the thread does
    assert call.engine.state is State.ENDED
    (said,) = call.engine.messages
    assert said.startswith("RTP failed (RuntimeError)")
    assert "secret" not in said
    for peer, kept in zip(call.peers, call.outputs, strict=True):
        kept.append(peer.samples())
    assert (call.whole(1) <= 0).all()
    assert (call.whole(0) >= 0).all(), "nor does the caller hear itself"
