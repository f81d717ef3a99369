"""Tracks of WebRTC calls: by themselves, and through two peer connections on the loopback."""

from __future__ import annotations

import asyncio
import fractions
import threading

import numpy
import pytest
import torch
from awaited import PATIENCE
from live_line import Clock, Negative

import voicenym

pytest.importorskip("aiortc")
av = pytest.importorskip("av")

from aiortc import RTCPeerConnection  # noqa: E402
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack  # noqa: E402

from voicenym.live.frame_anonymizer import FrameAnonymizer  # noqa: E402
from voicenym.live.webrtc_track import AnonymizedTrack  # noqa: E402

RATE, COUNT = 48_000, 960


class Spoken(MediaStreamTrack):
    """A track of known samples, 20 ms a frame, as fast as asked or in real time."""

    kind = "audio"

    def __init__(self, samples, paced=False, layout="mono", telephone_from=None):
        super().__init__()
        self.samples, self.paced, self.layout = samples, paced, layout
        self.place, self.begun = 0, None
        self.telephone_from = telephone_from  # sample from which frames are of 8 kHz

    async def recv(self):
        loop = asyncio.get_running_loop()
        if self.readyState != "live" or self.place >= len(self.samples):
            raise MediaStreamError
        self.begun = loop.time() if self.begun is None else self.begun
        if self.paced:
            await asyncio.sleep(max(0.0, self.begun + self.place / RATE - loop.time()))
        part, rate = self.samples[self.place : self.place + COUNT], RATE
        if self.telephone_from is not None and self.place >= self.telephone_from:
            part, rate = part[::6], RATE // 6
        whole = (part * 32_767).astype(numpy.int16)
        channels = 2 if self.layout == "stereo" else 1
        frame = av.AudioFrame.from_ndarray(
            whole.repeat(channels)[None], format="s16", layout=self.layout
        )
        frame.sample_rate, frame.pts = rate, self.place * rate // RATE
        frame.time_base = fractions.Fraction(1, rate)
        self.place += COUNT
        return frame


def read(frame):
    return frame.to_ndarray()[0] / 32_768


async def heard(track):
    found = []
    while True:
        try:
            found.append(await track.recv())
        except MediaStreamError:
            return found


@pytest.mark.parametrize("layout", ["mono", "stereo"])
def test_frames_keep_length_time_and_rate(layout):
    samples = numpy.full(20 * COUNT, 0.5, numpy.float32)

    async def call():
        track = AnonymizedTrack(Spoken(samples, layout=layout), lambda rate: Negative(COUNT), 60.0)
        return await heard(track), track

    frames, track = asyncio.run(call())
    assert [(f.pts, f.samples, f.sample_rate, f.layout.name) for f in frames] == [
        (n * COUNT, COUNT, RATE, "mono") for n in range(20)
    ]
    out = numpy.concatenate([read(frame) for frame in frames])
    assert not out[:COUNT].any()
    numpy.testing.assert_allclose(out[2 * COUNT :], -0.5, atol=2e-3)
    assert track.readyState == "ended"


def test_a_system_that_hangs_gives_silence_and_late_frames_are_dropped():
    go = threading.Event()

    def disturb(number, out):
        if number == 3:
            go.wait(PATIENCE)
        return out

    samples = numpy.repeat(numpy.linspace(0.1, 0.9, 60, dtype=numpy.float32), COUNT)

    async def call():
        track = AnonymizedTrack(Spoken(samples), lambda rate: None)
        track.voice = FrameAnonymizer(lambda rate: Negative(0, disturb), Clock())
        found = []
        for n in range(60):
            track._wait = 0.01 if 2 <= n < 20 else PATIENCE
            if n == 20:
                go.set()
                while not track._late.done():
                    await asyncio.sleep(0.01)
            found.append(read(await track.recv()))
        track.stop()
        return found

    out = asyncio.run(call())
    assert all((part <= 0).all() for part in out)
    assert (out[1] < 0).all()
    assert not numpy.concatenate(out[2:20]).any()
    level = [float(-part.min()) for part in out]
    sounding = [n for n in range(20, 60) if level[n] > 0]
    assert len(sounding) >= 38
    assert all(level[n] > 0.1 + 0.8 * 18 / 59 for n in sounding), "nothing from before"


def test_a_frame_that_cannot_be_read_is_silence_and_a_message(monkeypatch):
    async def call():
        track = AnonymizedTrack(
            Spoken(numpy.full(3 * COUNT, 0.5, numpy.float32)), lambda rate: Negative(0), 60.0
        )
        first = await track.recv()
        monkeypatch.setattr(track, "_floats", {})
        monkeypatch.setattr(av, "AudioResampler", lambda **given: 1 / 0)
        second = await track.recv()
        track.stop()
        return read(first), read(second), track.voice.messages()

    first, second, messages = asyncio.run(call())
    assert first.any()
    assert not second.any()
    (message,) = messages
    assert "silence goes out" in message


def test_a_stopped_track_stops_its_source_and_ends():
    async def call():
        source = Spoken(numpy.zeros(10 * COUNT, numpy.float32))
        track = AnonymizedTrack(source, lambda rate: Negative(0))
        await track.recv()
        track.stop()
        assert source.readyState == "ended"
        with pytest.raises(MediaStreamError):
            await track.recv()
        track._worker.join(PATIENCE)
        assert not track._worker.is_alive()

    asyncio.run(call())


def connected(monkeypatch, samples, make, wanted, **spoken):
    """Samples ``[time]`` that the far end of a call hears, of a voice that is hidden on the way.

    Two peer connections speak ICE, DTLS, SRTP and Opus over the loopback interface.
    """
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda *given, **more: ["127.0.0.1"])

    async def call():
        near, far = RTCPeerConnection(), RTCPeerConnection()
        arrived = asyncio.get_running_loop().create_future()
        far.on("track", lambda track: arrived.done() or arrived.set_result(track))
        track = AnonymizedTrack(Spoken(samples, paced=True, **spoken), make, PATIENCE)
        near.addTrack(track)
        await near.setLocalDescription(await near.createOffer())
        await far.setRemoteDescription(near.localDescription)
        await far.setLocalDescription(await far.createAnswer())
        await near.setRemoteDescription(far.localDescription)
        found = []
        try:
            heard = await asyncio.wait_for(arrived, PATIENCE)
            while sum(map(len, found)) < wanted:
                frame = await asyncio.wait_for(heard.recv(), PATIENCE)
                assert (frame.sample_rate, frame.layout.name) == (RATE, "stereo")
                found.append(read(frame)[::2])
        except MediaStreamError:
            pass
        finally:
            await near.close()
            await far.close()
        return numpy.concatenate(found), track

    return asyncio.run(call())


def spoken(seconds):
    """Glides and pauses, whose place in time is clear."""
    time = torch.arange(round(seconds * RATE)) / RATE
    buzz = sum(
        torch.sin(2 * torch.pi * k * (140 * time + 6 * torch.sin(5 * time)))
        for k in (1, 2, 3, 5, 8, 13)
    )
    return (0.08 * buzz * (torch.sin(9 * time) > -0.5)).float()


def similarity(heard, whole):
    """Normalised cross-correlation of what was heard with its best place in the whole."""
    count, size = len(heard), len(heard) + len(whole)
    spectrum = numpy.fft.rfft(whole, size) * numpy.fft.rfft(heard, size).conj()
    at = numpy.abs(numpy.fft.irfft(spectrum, size))[: len(whole) - count + 1]
    energies = numpy.cumsum(numpy.concatenate([[0.0], whole.astype(float) ** 2]))
    energies = numpy.sqrt(energies[count:] - energies[:-count])
    return (at / energies).max() / numpy.linalg.norm(heard)


def test_over_peer_connections_the_anonymized_voice_arrives_whole(monkeypatch):
    anonymize = voicenym.load("mcadams", low=0.6, high=0.6)
    key = voicenym.Key(bytes(32)).pseudonym("anna")
    samples = spoken(3.0)
    wanted = anonymize.stream(key, RATE).finish(samples).numpy()
    out, track = connected(
        monkeypatch, samples.numpy(), lambda rate: anonymize.stream(key, rate), len(samples) - RATE
    )
    assert track.voice.failures == 0
    assert track.voice.messages() == []
    # the receiver's jitter buffer may leave out packets at the start
    assert len(samples) - RATE <= len(out) <= len(samples) + RATE
    heard = out[RATE // 2 :]  # ICE and the jitter buffer begin while the voice does
    own, other = similarity(heard, wanted), similarity(heard, samples.numpy())
    assert own > 0.85
    assert other < 0.5


def test_over_peer_connections_a_fault_is_silence(monkeypatch):
    def disturb(number, out):
        if number >= 20:
            raise RuntimeError("broken")
        return out

    samples = numpy.full(2 * RATE, 0.3, numpy.float32) * numpy.sign(
        numpy.sin(numpy.arange(2 * RATE) / 20)
    ).astype(numpy.float32)
    made = []

    def make(rate):
        made.append(True)
        if len(made) > 1:
            raise RuntimeError("broken for good")
        return Negative(0, disturb)

    out, track = connected(monkeypatch, samples, make, RATE)
    assert track.voice.messages()
    assert numpy.abs(out[: RATE // 5]).max() > 0.1, "it sounded before"
    last = out[-RATE // 4 :]
    assert numpy.abs(last).max() < 0.01


def test_over_peer_connections_the_voice_goes_on_at_another_rate(monkeypatch):
    """As when a switch puts the caller through from another line: the sender takes one rate."""
    time = numpy.arange(3 * RATE) / RATE
    samples = (0.3 * numpy.sin(2 * numpy.pi * 400 * time)).astype(numpy.float32)
    rates = []

    def make(rate):
        rates.append(rate)
        return Negative(0)

    out, track = connected(
        monkeypatch, samples, make, 5 * RATE // 2, telephone_from=RATE // 50 * 50
    )
    assert rates == [RATE, RATE // 6]
    assert track.voice.failures == 0
    before, after = out[RATE // 4 : RATE // 2], out[-RATE // 4 :]
    assert numpy.linalg.norm(before) > 5
    assert numpy.linalg.norm(after) == pytest.approx(numpy.linalg.norm(before), rel=0.2)
