"""``voicenym live --rtp`` as a process: keys on a terminal, ffmpeg as the switch, bad options."""

from __future__ import annotations

import os
import pty
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import termios
from pathlib import Path

import numpy
import pytest
from awaited import PATIENCE
from rtp_peer import Peer

from voicenym.live.rtp.rtp_payload import payload

HELPERS = Path(__file__).resolve().parents[3] / "helpers"
COUNT = 160
POLL = 0.02
"""Seconds of a packet, after which the next one goes out."""
POLL = 0.02
"""Seconds of a packet, after which the next one goes out."""
MU_LAW = payload("pcmu")
SOUND = "aevalsrc=0.4*abs(sin(2*PI*220*t)):s=8000"
"""Source of ffmpeg: never below zero, with a pitch of 440 Hz."""


def environment():
    paths = [str(HELPERS), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "TERM": "xterm"}


def free_port():
    """An even UDP port whose next one is free too."""
    while True:
        port = 2 * (5_000 + secrets.randbelow(25_000))
        try:
            for one in (port, port + 1):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as trial:
                    trial.bind(("127.0.0.1", one))
        except OSError:
            continue
        return port


class Terminal:
    """A session on a pseudo-terminal, and the switch that speaks to it."""

    def __init__(self):
        self.peer = Peer(MU_LAW)
        self.port = free_port()
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.screen = b""
        self.process = subprocess.Popen(
            [
                sys.executable, str(HELPERS / "live_in_terminal.py"), "live", "--rtp",
                str(self.port), "--rtp-peer", f"127.0.0.1:{self.peer.address[1]}",
            ],
            stdin=self.slave, stdout=self.slave, stderr=self.slave, env=environment(),
            start_new_session=True, preexec_fn=self._controls,
        )  # fmt: skip

    def _controls(self):
        import fcntl

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # Ctrl-C reaches the command
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # also where the tests run in the background

    def press(self, key):
        os.write(self.master, key.encode())

    def packet(self):
        """The caller speaks for a packet; what comes back, if anything does."""
        self.peer.send(self.peer.packet(numpy.full(COUNT, 0.5, numpy.float32)), self.port)
        self.peer.socket.settimeout(POLL)
        try:
            data, sender = self.peer.socket.recvfrom(2_000)
            if sender[1] != self.port:
                data = None  # of another session, whose peer had this port before
        except TimeoutError:
            data = None
        while select.select([self.master], [], [], 0)[0]:
            try:
                self.screen += os.read(self.master, 65_536)
            except OSError:
                break
        return None if data is None else MU_LAW.decode(data[12:])

    def until(self, wanted, count=10):
        """Speak until so many packets in a row are as wanted."""
        run = 0
        for _ in range(round(PATIENCE / POLL)):
            out = self.packet()
            if out is None:
                if self.process.poll() is not None:
                    break
                continue
            assert (out <= 0.001).all(), "the caller's own voice came back"
            run = run + 1 if wanted(out) else 0
            if run == count:
                return
        raise AssertionError(f"it did not come: {self.screen[-2_000:]!r}")

    def says(self, text):
        """Speak until the screen, which is drawn at intervals, has shown a text."""
        for _ in range(round(PATIENCE / POLL)):
            if text in self.screen:
                return
            self.packet()
        raise AssertionError(f"it was not shown: {self.screen[-2_000:]!r}")

    def end(self):
        for _ in range(round(PATIENCE / POLL)):
            try:
                return self.process.wait(POLL)
            except subprocess.TimeoutExpired:
                self.packet()  # reads what the command writes
        raise AssertionError(f"it did not end: {self.screen[-2_000:]!r}")

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.peer.close()
        os.close(self.master)
        os.close(self.slave)


def sounds(out):
    return (out < -0.4).all()


def silent(out):
    return not out.any()


@pytest.fixture
def terminal():
    made = Terminal()
    yield made
    made.close()


def test_mute_panic_resume_and_quit_act_on_a_terminal(terminal):
    terminal.until(sounds)
    terminal.press("m")
    terminal.says(b"muted")
    terminal.until(silent)
    terminal.press("m")
    terminal.until(sounds)
    for key in (" ", "p"):
        terminal.press(key)
        terminal.says(b"silence goes out until you resume")
        terminal.until(silent, 60)
        terminal.press("m")  # muting is no way out of a stop
        terminal.press("m")
        terminal.until(silent, 30)
        terminal.press("r")
        terminal.until(sounds)
    terminal.press("xyz\x1b[A")  # other keys do nothing
    terminal.until(sounds)
    terminal.press("q")
    assert terminal.end() == 0
    assert re.search(rb"caller: \d+ packets, \d+ lost", terminal.screen)
    assert termios.tcgetattr(terminal.slave) == terminal.before, "the terminal is as it was"


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(terminal):
    terminal.until(sounds)
    terminal.press("\x03")
    assert terminal.end() != 0
    assert b"Traceback" not in terminal.screen
    assert termios.tcgetattr(terminal.slave) == terminal.before


def until_it_sounds(port):
    """Waits for sound at a port of A-law: ffmpeg gives up after ten seconds without a packet."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
        first.bind(("127.0.0.1", port))
        first.settimeout(PATIENCE)
        while not (payload("pcma").decode(first.recv(2_000)[12:]) < -0.1).any():
            pass


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
def test_ffmpeg_sends_the_caller_and_hears_the_agent_s_leg(tmp_path):
    """A caller at one ffmpeg, the agent at another one, both in A-law."""
    caller, agent, agent_peer = free_port(), free_port(), free_port()
    session = subprocess.Popen(
        [
            sys.executable, str(HELPERS / "live_in_terminal.py"), "live", "--rtp", str(caller),
            "--rtp-peer", "127.0.0.1", "--rtp-agent", str(agent), "--rtp-agent-peer",
            f"127.0.0.1:{agent_peer}", "--rtp-codec", "pcma",
        ],
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment(), text=True,
    )  # fmt: skip
    description = tmp_path / "agent.sdp"
    description.write_text(
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=-\nc=IN IP4 127.0.0.1\nt=0 0\n"
        f"m=audio {agent_peer} RTP/AVP 8\na=rtpmap:8 PCMA/8000\n"
    )
    found = tmp_path / "agent.wav"
    quiet = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-y"]
    programs = [session]
    try:
        sender = subprocess.Popen(
            [
                *quiet, "-re", "-f", "lavfi", "-i", SOUND, "-t",
                str(PATIENCE), "-c:a", "pcm_alaw", "-f", "rtp", f"rtp://127.0.0.1:{caller}?pkt_size=172",
            ],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        programs.append(sender)
        until_it_sounds(agent_peer)
        hearer = subprocess.Popen(
            [
                *quiet, "-protocol_whitelist", "file,udp,rtp", "-i", str(description), "-t", "4",
                "-c:a", "pcm_s16le", str(found),
            ],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        programs.append(hearer)
        assert hearer.wait(PATIENCE) == 0
    finally:
        for one in programs:
            one.terminate()
            one.wait()
        said = session.stderr.read()
        session.stderr.close()
    import soundfile

    sound, rate = soundfile.read(found)
    assert rate == 8_000
    loud = sound[numpy.abs(sound) > 0.01]
    assert len(loud) > 2_000, said
    steady = sound[-4_000:] if numpy.abs(sound[-4_000:]).any() else loud
    assert (sound <= 0.001).all(), "the caller's own sound, which is above zero, reached the agent"
    moving = (steady - steady.mean()) * numpy.hanning(len(steady))
    spectrum = numpy.abs(numpy.fft.rfft(moving))
    spectrum[: 200 * len(steady) // rate] = 0.0  # gaps of a busy machine
    assert abs(numpy.argmax(spectrum) * rate / len(steady) - 440) < 10
    assert 0.35 < numpy.abs(loud).max() < 0.45


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rtp", "4000"], "--rtp and --rtp-peer go together"),
        (["--rtp-peer", "127.0.0.1"], "go with --rtp [HOST:]PORT"),
        (
            ["--rtp", "4000", "--rtp-peer", "127.0.0.1", "--rtp-agent", "4002"],
            "--rtp-agent-peer go",
        ),
        (["--rtp", "x", "--rtp-peer", "127.0.0.1"], "--rtp x: ports go from 1 to 65534"),
        (["--rtp", "99999", "--rtp-peer", "127.0.0.1"], "ports go from 1 to 65534"),
        (["--rtp", "4000", "--rtp-peer", ":5"], "its peer HOST[:PORT]"),
        (["--rtp", "4000", "--rtp-peer", "127.0.0.1", "--stdin", "--stdout"], "uses no devices"),
        (["--rtp", "4000", "--rtp-peer", "127.0.0.1", "--caller", "left"], "leave out --in"),
        (["--rtp", "4000", "--rtp-peer", "127.0.0.1", "--rtp-codec", "opus"], "pcmu, pcma or l16"),
        (["--rtp", "4000", "--rtp-peer", "127.0.0.1", "--rate", "16000"], "pcmu has 8000 Hz"),
        (["--rtp", "203.0.113.9:4000", "--rtp-peer", "127.0.0.1"], "an address of this machine"),
    ],
)
def test_bad_options_get_one_line(command, options, message):
    done = command("live", "-s", "mcadams", *options)
    assert done.returncode == 1
    text = done.stderr.decode()
    assert message in text
    assert text.splitlines()[-1].startswith("voicenym: error: ")
    assert "Traceback" not in text
