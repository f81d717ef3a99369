"""``voicenym live`` on pipes, on PipeWire, and with bad options."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import numpy
import pytest
import torch

import voicenym

RATE = 16_000


def sound(seconds=1.0, seed=0):
    time = torch.arange(round(seconds * RATE)) / RATE
    return 0.2 * torch.sin(700 * time + 3 * torch.sin((20 + seed) * time))


def pcm(samples):
    return (samples.numpy() * 32768).round().astype("<i2").tobytes()


def read(data, channels=1):
    return numpy.frombuffer(data, "<i2").reshape(-1, channels) / 32768


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "k.key"
    voicenym.Key(bytes(range(32))).save(path)
    return path


def expected(samples, system="mcadams"):
    """The whole signal by the stream of anna, and the stream's latency."""
    stream = voicenym.load(system).stream(voicenym.Key(bytes(range(32))).pseudonym("anna"), RATE)
    return stream.finish(samples).numpy(), stream.latency


@pytest.mark.parametrize("extra", [0, 1, 319, 320])
def test_a_pipe_gives_the_stream_later_by_its_latency(command, key, extra):
    samples = sound()[: 8_000 + extra]
    rounded = torch.from_numpy(read(pcm(samples))[:, 0].astype(numpy.float32))
    whole, latency = expected(rounded)
    done = command(
        "live", "--stdin", "--stdout", "-s", "mcadams", "--key", key, "--speaker", "anna",
        input=pcm(samples),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"mcadams: revision 1, as the key or the setting says; the latest is" in done.stderr
    out = read(done.stdout)[:, 0]
    assert len(out) == len(samples) + latency
    assert not out[:latency].any()
    # the end of a pipe is followed by silence, which the stream knows; a file's end it is told
    numpy.testing.assert_allclose(out[latency:-400], whole[:-400], atol=2 / 32768)


@pytest.mark.parametrize("seconds", ["0.5", "0.505", "9"])
def test_a_pipe_ends_after_the_seconds_that_are_wanted(command, key, seconds):
    # long blocks, which no load of this machine makes longer: the delay counts in blocks
    arguments = (
        "live", "--stdin", "--stdout", "-s", "mcadams", "--key", key, "--speaker", "anna",
        "--block", "160",
    )  # fmt: skip
    given = pcm(sound())
    count = min(RATE, round(float(seconds) * RATE))
    done = command(*arguments, "--seconds", seconds, input=given)
    assert done.returncode == 0, done.stderr
    assert done.stdout == command(*arguments, input=given[: 2 * count]).stdout


@pytest.mark.parametrize("caller", ["left", "right"])
def test_of_a_call_on_a_pipe_one_channel_is_hidden(command, key, caller):
    left, right = sound(), sound(seed=5)
    both = torch.stack([left, right], dim=1)
    done = command(
        "live", "--stdin", "--stdout", "-s", "mcadams", "--key", key, "--speaker", "anna",
        "--caller", caller, "-q", input=pcm(both),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    hidden = 0 if caller == "left" else 1
    out = read(done.stdout, 2)
    given = read(pcm(both), 2)
    whole, latency = expected(torch.from_numpy(given[:, hidden].astype(numpy.float32)))
    numpy.testing.assert_allclose(out[latency:, 1 - hidden], given[:, 1 - hidden], atol=1e-9)
    numpy.testing.assert_allclose(out[latency:-400, hidden], whole[:-400], atol=2 / 32768)


def test_settings_that_return_the_input_are_refused(command):
    done = command(
        "live", "--stdin", "--stdout", "-s", "mcadams", "--set", "low=1", "--set", "high=1",
        input=pcm(sound()),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")
    assert "mcadams returns its input with these settings" in done.stderr.decode()


def test_sound_with_nan_comes_out_as_silence_and_a_message(command):
    samples = sound(1.0).numpy()
    samples[8_000] = numpy.nan
    done = command(
        "live", "--stdin", "--stdout", "--pcm", "f32le", "-s", "mcadams",
        input=samples.astype("<f4").tobytes(),
    )  # fmt: skip
    out = numpy.frombuffer(done.stdout, "<f4")
    assert done.returncode == 1
    assert numpy.isfinite(out).all()
    assert out[2_000:7_000].any()
    assert not out[8_000:9_000].any()
    said = done.stderr.decode()
    assert said.count("gave NaN or infinity; silence goes out") == 1
    assert "left silence in the output" in said


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (["--stdin", "--stdout"], b"", "standard input: no sound; pipe PCM samples in"),
        (["--stdin", "--stdout"], b"x", "standard input: no sound"),
        (["--stdin", "--stdout"], b"xxx", "ends within a sample"),
        (["--stdin"], b"", "--stdin and --stdout go together"),
        (["--stdin", "--stdout", "--json"], b"xx", "--json goes with --list-devices or --measure"),
        (["--stdin", "--stdout", "--out", "x"], b"", "use no devices"),
        (["--stdin", "--stdout", "--pcm", "mp3"], b"", "--pcm is s16le or f32le, not 'mp3'"),
        (["--stdin", "--stdout", "--margin", "20"], b"", "leave out --margin"),
        (["--stdin", "--stdout", "--device-latency", "20"], b"", "leave out --margin and --dev"),
        (["--stdin", "--stdout", "--rtp-codec", "pcma"], b"", "--rtp-codec, --rtp-type and --jit"),
        (["--jitter", "20"], b"", "--jitter go with --rtp"),
        (["--rtp", "4000", "--rtp-peer", "127.0.0.1:5", "--pcm", "f32le"], b"", "--pcm goes with"),
        (["--caller", "both"], b"", "--caller is left or right, not 'both'"),
        (["--virtual-microphone", "--out", "x"], b"", "leave out --out"),
        (["--measure", "5", "--caller", "left"], b"", "leave out --monitor and --caller"),
        (["--measure", "5", "--seconds", "9"], b"", "length of the measurement; leave out --sec"),
        (["--stdin", "--stdout", "-s", "formant"], b"", "formant does not work live"),
        (["--stdin", "--stdout", "-s", "nonsense"], b"", "nonsense"),
        (["--stdin", "--stdout", "-s", "recast", "--language", "en"], b"", "no parameter language"),
        (
            ["--stdin", "--stdout", "-s", "word-codes", "--language", "de"],
            b"",
            "of another language",
        ),
        (["--stdin", "--stdout", "--key", "gone.key"], b"", "gone.key"),
    ],
)
def test_bad_options_and_input_get_one_line(command, options, given, message):
    done = command("live", *options, input=given)
    assert done.returncode == 1
    text = done.stderr.decode()
    assert message in text
    assert text.splitlines()[-1].startswith("voicenym: error: ")
    assert "Traceback" not in text


def test_without_devices_the_message_says_what_to_do(command, monkeypatch):
    from fake_sounddevice import FakeSoundDevice

    fake = FakeSoundDevice()
    fake.devices.clear()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    done = command("live", "-s", "mcadams")
    assert done.returncode == 1
    assert b"no input device is there; connect one, or use --stdin and --stdout" in done.stderr


PROGRAMS = ("pipewire", "wireplumber", "pipewire-pulse", "dbus-run-session", "pactl")


@pytest.fixture
def pipewire(tmp_path):
    """Environment of programs that find a sound server of their own."""
    if not all(map(shutil.which, PROGRAMS)):
        pytest.skip(f"needs {', '.join(PROGRAMS)}")
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(tmp_path)}
    environment.pop("DBUS_SESSION_BUS_ADDRESS", None)
    script = "pipewire & sleep 1; wireplumber & pipewire-pulse & wait"
    server = subprocess.Popen(
        ["dbus-run-session", "--", "sh", "-c", script],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        for _ in range(100):
            asked = subprocess.run(["pactl", "info"], env=environment, capture_output=True)
            if asked.returncode == 0:
                break
            time.sleep(0.2)
        else:
            pytest.skip("PipeWire does not start here")
        listed = live(environment, "--list-devices", "--json")
        if listed.returncode or '"pipewire"' not in listed.stdout:
            pytest.skip("needs PortAudio and the ALSA plug-in of PipeWire")
        yield environment
    finally:
        os.killpg(server.pid, 15)
        server.wait()


def live(environment, *options):
    return subprocess.run(
        [sys.executable, "-m", "voicenym", "live", *options],
        env=environment, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_over_a_null_sink_the_delay_is_measured_and_only_chirps_go_out(pipewire):
    """Long blocks and queues, so that a busy machine holds them; another try where it did not."""
    for _ in range(3):
        done = live(
            pipewire, "--virtual-microphone", "--measure", "5", "-s", "mcadams", "--block", "40",
            "--margin", "200", "--device-latency", "40", "--json",
        )  # fmt: skip
        if done.returncode == 0:
            break
        assert "no chirp was heard" in done.stderr or "cannot hold" in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    least = found["algorithm"] + found["block"] + found["margin"]
    assert least <= found["least_delay"] <= found["delay"] < least + 700
    assert found["heard"] >= 1
    assert found["blocks"] > 100
    left = subprocess.run(["pactl", "list", "short"], env=pipewire, capture_output=True, text=True)
    assert "voicenym" not in left.stdout, "sink and source are removed afterwards"


def test_a_session_on_pipewire_runs_and_a_wrong_node_is_an_error(pipewire):
    done = live(pipewire, "--virtual-microphone", "--seconds", "1", "-s", "mcadams")
    assert done.returncode == 0, done.stderr
    assert "other programs see the microphone voicenym-microphone" in done.stderr
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = f"sink_properties='device.description=voicenym voicenym.process={ended.pid}'"
    made = ["pactl", "load-module", "module-null-sink", "sink_name=voicenym", left]
    subprocess.run(made, env=pipewire, check=True)
    done = live(pipewire, "--virtual-microphone", "--seconds", "1", "-s", "mcadams")
    assert done.returncode == 0, f"what a killed session left: {done.stderr}"
    done = live(pipewire, "--out", "pipewire:nowhere", "-s", "mcadams")
    assert done.returncode == 1
    assert "pipewire:nowhere: no such node; there are: auto_null" in done.stderr
    done = live(pipewire, "--list-devices", "--json")
    assert "pipewire:auto_null" in [one["name"] for one in json.loads(done.stdout)]
