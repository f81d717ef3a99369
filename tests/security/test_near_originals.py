"""Law 8: an output that is nearly its input is refused, whatever system made it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import soundfile
import soxr
import torch

from voicenym import Audio, Key, load
from voicenym.anonymizer import Anonymizer, Card
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.corpus.nearness.near_original import nearly
from voicenym.corpus.nearness.signal_similarity import SignalSimilarity
from voicenym.corpus.run_records.run_log import LOG_NAME
from voicenym.errors import AudioError, UnknownSystemError
from voicenym.systems.formant import LEAST_WARP, Formant
from voicenym.systems.vtln import LEAST_SHIFT, MOST_SHIFT, Vtln, shift

RATE = 16_000
KEY = Key(bytes(range(32)), None)
PSEUDONYM = KEY.pseudonym("ann")


@dataclass(frozen=True)
class PlugIn(Anonymizer):
    """A user's system that changes a whole recording by a function."""

    change: Any = None

    card: ClassVar[Card] = Card("plug-in", "", "", 2026, (), "no weights", "", (), ("all",))

    def core(self, pseudonyms, rate, profile):
        return _Whole(self.change, rate)


class _Whole:
    """Keeps everything until the end."""

    latency = 1 << 40

    def __init__(self, change, rate):
        self._change, self._rate, self._parts = change, rate, []

    def push(self, block):
        self._parts.append(block)
        return block[:, :0]

    def flush(self):
        whole = torch.cat(self._parts, dim=1).numpy()
        made = np.asarray(self._change(whole, self._rate), np.float32)[:, : whole.shape[1]]
        missing = whole.shape[1] - made.shape[1]
        return torch.from_numpy(np.pad(made, ((0, 0), (0, missing))).copy())


def same(x, rate):
    return x


def delayed(seconds):
    def change(x, rate):
        return np.pad(x, ((0, 0), (round(seconds * rate), 0)))

    return change


def early(x, rate):
    return x[:, rate // 3 :]


def noisy(x, rate):
    noise = np.random.default_rng(1).standard_normal(x.shape)
    return x + noise * np.sqrt((x**2).mean(1, keepdims=True)) * 10 ** (-30 / 20)


def resampled(x, rate):
    there = soxr.resample(x.T, rate, 11_025)
    return soxr.resample(there, 11_025, rate).T


def low_passed(x, rate):
    spectrum = np.fft.rfft(x)
    spectrum[:, round(3000 * x.shape[1] / rate) :] = 0
    return np.fft.irfft(spectrum, x.shape[1])


def turned(x, rate):
    """Every component's phase by a quarter."""
    return np.fft.irfft(np.fft.rfft(x) * 1j, x.shape[1])


def all_pass(x, rate):
    """A cascade of first-order all-passes."""
    hertz = np.exp(-2j * np.pi * np.fft.rfftfreq(x.shape[1]))
    spectrum = np.fft.rfft(x)
    for a in (0.5, -0.6, 0.7, -0.8, 0.5, -0.6, 0.7, -0.8):
        spectrum = spectrum * (a + hertz) / (1 + a * hertz)
    return np.fft.irfft(spectrum, x.shape[1])


def sped(factor):
    def change(x, rate):
        time = np.arange(x.shape[1])
        return np.stack([np.interp(time * factor, time, row, right=0) for row in x])

    return change


def tilted(x, rate):
    """6 dB an octave: another tone, the same voice."""
    return 0.7 * (x - 0.5 * np.pad(x[:, :-1], ((0, 0), (1, 0))))


def hidden(x, rate):
    """A real change of the voice, to mix originals with."""
    return load("pv-tsm")(Audio(torch.from_numpy(x.copy()), rate), PSEUDONYM).samples.numpy()


def second_half(x, rate):
    half = x.shape[1] // 2
    return np.concatenate([hidden(x, rate)[:, :half], x[:, half:]], axis=1)


def first_half(x, rate):
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], hidden(x, rate)[:, half:]], axis=1)


def one_channel(x, rate):
    made = hidden(x, rate)
    made[-1] = x[-1]
    return made


def alternating(x, rate):
    made = hidden(x, rate)
    for i in range(0, x.shape[1] // (2 * rate) + 1):
        part = slice(2 * i * rate, 2 * (i + 1) * rate)
        made[i % len(x), part] = x[i % len(x), part]
    return made


NULLS = {
    "the input": same,
    "inverted": lambda x, rate: -x,
    "scaled": lambda x, rate: 0.2 * x,
    "late by 3.7 ms": delayed(0.0037),
    "late by 0.5 s": delayed(0.5),
    "early by 0.33 s": early,
    "with noise at 30 dB": noisy,
    "resampled there and back": resampled,
    "low-passed": low_passed,
    "turned in phase": turned,
    "all-passed": all_pass,
    "sped up by 0.5 %": sped(1.005),
    "slowed by 0.5 %": sped(0.995),
    "tilted": tilted,
    "second half passed through": second_half,
    "first half passed through": first_half,
}


@pytest.fixture(scope="module")
def speech(tmp_path_factory, sample) -> Path:
    """Twelve seconds of synthetic speech."""
    x, rate = soundfile.read(sample, dtype="float32")
    path = tmp_path_factory.mktemp("near") / "speech.wav"
    soundfile.write(path, np.tile(x, -(-12 * rate // len(x)))[: 12 * rate], rate)
    return path


def refused(system: Anonymizer, source: Path, tmp_path: Path, **more: Any) -> str:
    """The message with which the output is refused; nothing may be there."""
    folder = tmp_path / "out"
    folder.mkdir(exist_ok=True)
    with pytest.raises(AudioError, match="nearly the input") as caught:
        anonymize_file(system, PSEUDONYM, source, folder / source.name, **more)
    assert list(folder.iterdir()) == []
    return str(caught.value)


@pytest.mark.parametrize("name", NULLS)
def test_a_plug_in_that_changes_nearly_nothing_is_refused(name, speech, tmp_path):
    message = refused(PlugIn(change=NULLS[name]), speech, tmp_path)
    assert message.startswith(f"{speech}: ")
    assert "take another key" in message
    assert "another --system" in message


@pytest.mark.parametrize("change", [one_channel, alternating, same])
def test_every_channel_is_judged(change, speech, tmp_path):
    x, rate = soundfile.read(speech)
    path = tmp_path / "stereo.wav"
    soundfile.write(path, np.stack([x, np.roll(x, 4 * rate)], axis=1), rate)
    refused(PlugIn(change=change), path, tmp_path)
    anonymize_file(PlugIn(change=hidden), PSEUDONYM, path, tmp_path / "fine.wav")


@pytest.mark.parametrize("rate", [8000, 11_025, 44_100, 48_000])
@pytest.mark.parametrize("name", ["the input", "late by 0.5 s", "turned in phase"])
def test_at_every_rate(name, rate, speech, tmp_path):
    x, own = soundfile.read(speech)
    path = tmp_path / "rate.wav"
    soundfile.write(path, soxr.resample(x, own, rate), rate)
    refused(PlugIn(change=NULLS[name]), path, tmp_path)


def test_a_short_passage_of_a_long_recording_is_found(speech, tmp_path):
    """Eight seconds of two minutes pass through: 7 %, and far less than a share that is refused."""
    x, rate = soundfile.read(speech, dtype="float32")
    path = tmp_path / "long.wav"
    soundfile.write(path, np.tile(x, 10), rate)

    def change(y, r):
        made = hidden(y, r)
        made[:, 50 * r : 58 * r] = y[:, 50 * r : 58 * r]
        return made

    assert "passage of" in refused(PlugIn(change=change), path, tmp_path)


def test_leniency_streams_and_batches_do_not_switch_it_off(speech, tmp_path):
    refused(PlugIn(change=same), speech, tmp_path, lenient=True)
    target = io.BytesIO()
    with pytest.raises(AudioError, match="standard input: the output would be nearly the input"):
        anonymize_file(PlugIn(change=same), PSEUDONYM, io.BytesIO(speech.read_bytes()), target)
    old = tmp_path / "there.wav"
    old.write_bytes(b"mine")
    with pytest.raises(AudioError, match="nearly"):
        anonymize_file(PlugIn(change=same), PSEUDONYM, speech, old, overwrite=True)
    assert old.read_bytes() == b"mine"


def test_one_near_original_fails_alone_in_a_folder_and_the_pipe_says_so(tmp_path, speech):
    """With settings that are the identity, as a user types them."""
    from typer.testing import CliRunner

    from voicenym.apps.cli import app

    output = tmp_path / "out"
    folder = tmp_path / "in" / "ann"
    folder.mkdir(parents=True)
    (folder / "1.wav").write_bytes(speech.read_bytes())
    (folder / "2.wav").write_bytes(speech.read_bytes())
    identity = ["--system", "mcadams", "--set", "low=1", "--set", "high=1"]
    done = CliRunner().invoke(
        app, ["anonymize", str(tmp_path / "in"), "-o", str(output), *identity]
    )
    assert done.exit_code == 1
    assert done.output.count("nearly the input") == 2
    assert [p.name for p in output.rglob("*") if p.is_file()] == [LOG_NAME]
    pipe = CliRunner().invoke(app, ["anonymize", "-", *identity], input=speech.read_bytes())
    assert pipe.exit_code != 0
    assert "nearly the input" in str(pipe.exception) + pipe.output
    assert b"RIFF" not in pipe.stdout_bytes


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mcadams", {"low": 1.0, "high": 1.0}),
        ("pv-tsm", {"low": 0.0, "high": 0.0}),
        ("vtln", {"low": 0.0, "high": 0.001, "warp": "bilinear"}),
        ("base", {"identity": "copy"}),
        ("vcloak", {"epsilon": 0.005}),
    ],
)
def test_settings_that_are_the_identity_are_refused(name, settings, speech, tmp_path):
    refused(load(name, **settings), speech, tmp_path)


def test_empty_references_are_not_scored(tmp_path):
    for name, x in (("zero", np.zeros(RATE)), ("constant", np.full(RATE, 0.25))):
        path = tmp_path / f"{name}.wav"
        soundfile.write(path, x, RATE)
        anonymize_file(
            PlugIn(change=same), PSEUDONYM, path, tmp_path / f"{name}-out.wav", lenient=True
        )


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.5, 1.0])
def test_short_recordings_are_judged_too(seconds, speech, tmp_path):
    x, rate = soundfile.read(speech)
    start = round(0.5 * rate)
    path = tmp_path / "short.wav"
    soundfile.write(path, x[start : start + round(seconds * rate)], rate)
    refused(PlugIn(change=same), path, tmp_path)
    for name in ("mcadams", "pv-tsm", "formant", "recast", "base"):
        anonymize_file(load(name), PSEUDONYM, path, tmp_path / f"{name}.wav")


def test_a_change_of_tempo_does_not_hide_the_input(speech):
    """A system may change the length; the comparison follows its tempo."""
    x, rate = soundfile.read(speech, dtype="float32")
    tempo = 1.2
    # a phase vocoder without the resampling that shifts pitch: windows put down farther apart
    hop, window = 160, np.hanning(640)
    slow = np.zeros(round(tempo * len(x)) + 1280, np.float32)
    weight = np.full(len(slow), 1e-3, np.float32)
    for i in range((len(x) - 640) // hop):
        place = round(i * hop * tempo)
        slow[place : place + 640] += x[i * hop : i * hop + 640] * window
        weight[place : place + 640] += window
    for made, expected in ((slow / weight, True), (np.roll(slow / weight, 3 * rate), False)):
        likeness = SignalSimilarity(rate, 1, tempo)
        likeness.push_input(x[None])
        likeness.push_output(made[None, : round(tempo * len(x))].astype(np.float32))
        likeness.finish()
        near = nearly(likeness.found[0])
        assert (sum(near) >= 0.25 * len(near)) == expected


def test_blocks_of_any_size_are_compared_alike(speech):
    x, rate = soundfile.read(speech, dtype="float32")
    y = hidden(x[None], rate)
    found = []
    for size in (len(x), 4 * rate, 777):
        likeness = SignalSimilarity(rate, 1)
        for start in range(0, len(x), size):
            likeness.push_input(x[None, start : start + size])
            # the output comes late and in other pieces
            if start:
                likeness.push_output(y[:, start - size : start])
            last = start
        likeness.push_output(y[:, last:])
        likeness.finish()
        found.append(likeness.found[0].distances)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], atol=1e-3)


def test_memory_does_not_grow_with_length():
    """What is kept after an hour is what is kept after a minute."""
    generator = np.random.default_rng(0)
    block = (0.1 * generator.standard_normal((1, 40 * RATE))).astype(np.float32)
    likeness = SignalSimilarity(RATE, 1)
    kept = []
    for _ in range(90):
        likeness.push_input(block)
        likeness.push_output(block[:, ::-1].copy())
        kept.append(likeness._input.length + likeness._output.length)
    assert max(kept[10:]) <= 2 * max(kept[:10])


# Nobody switches it off


def test_a_comparison_is_one_of_those_there_are(speech, tmp_path):
    @dataclass(frozen=True)
    class Own(PlugIn):
        compared_by: ClassVar[str] = "none"

    with pytest.raises(AudioError, match="compared_by is 'none'; it must be one of"):
        anonymize_file(Own(change=hidden), PSEUDONYM, speech, tmp_path / "out.wav")
    assert not (tmp_path / "out.wav").exists()


@pytest.mark.parametrize("name", ["the input", "late by 0.5 s", "inverted", "with noise at 30 dB"])
def test_verifiers_do_not_let_the_input_pass_either(name, speech, tmp_path):
    @dataclass(frozen=True)
    class Meant(PlugIn):
        compared_by: ClassVar[str] = "verifiers"

    assert "bundled verifier" in refused(Meant(change=NULLS[name]), speech, tmp_path)


def test_vcloak_is_judged_by_verifiers_and_says_so(speech, tmp_path):
    system = load("vcloak")
    assert system.compared_by == "verifiers"
    assert any("checked by ecapa-small" in promise for promise in system.card.promises)
    anonymize_file(system, PSEUDONYM, speech, tmp_path / "out.wav")


# What systems draw


def test_vtln_draws_warps_that_move_speech():
    omega = torch.linspace(0.0, torch.pi, 513, dtype=torch.float64)
    moved = {1: [], 2: []}
    for (revision, shifts), count in zip(moved.items(), (30, 60), strict=True):
        system = load("vtln", revision=revision)
        for i in range(count):
            warped = system.warped(KEY.pseudonym(str(i)), omega)
            shifts.append(float(shift(warped, omega)))
    assert min(moved[1]) < 0.15  # what the first revision drew
    assert min(moved[2]) >= LEAST_SHIFT - 1e-9
    assert max(moved[2]) <= MOST_SHIFT + 1e-9
    assert len({round(s, 3) for s in moved[2]}) > 30
    with pytest.raises(UnknownSystemError, match=r"would leave the voice"):
        Vtln(low=0.0, high=0.001, least=0.01, most=0.02).warped(PSEUDONYM, omega)


@pytest.mark.parametrize("own", [430.0, 480.0, 510.0, 550.0, 590.0, 640.0])
def test_formant_draws_targets_away_from_the_speaker(own):
    system = Formant()
    ratios = np.array([system._away(phi, own) / own for phi in np.linspace(480, 620, 281)])
    assert (np.maximum(ratios, 1 / ratios) >= LEAST_WARP - 1e-9).all()
    assert len(set(ratios.round(4))) > 200  # and not all on one edge


def test_formant_gives_recordings_of_one_speaker_one_voice():
    """Phi is read a little differently in each recording; the target follows without a jump."""
    system = Formant()
    for phi in np.linspace(480, 620, 57):
        targets = [system._away(phi, own) for own in np.linspace(430, 650, 221)]
        assert np.abs(np.diff(targets)).max() < 3.0


def test_speakers_whose_own_voice_was_drawn_are_hidden_in_the_second_revision(speech, tmp_path):
    """For some keys, revision 1 of formant leaves this speaker alone; revision 2 moves on."""
    x, rate = soundfile.read(speech, dtype="float32")
    first, second = (load("formant", revision=revision) for revision in (1, 2))
    profiling = first.profiling(rate, 1)
    profiling.push(torch.from_numpy(x))
    reading = profiling.result()[0]

    def change(voice):
        """Of the first formants and of pitch, in logs."""
        return max(
            abs(np.log(voice.phi / reading.neutral)), 0.3 * abs(np.log(voice.pitch / reading.pitch))
        )

    voices = {p: first.voice(p) for p in (KEY.pseudonym(str(i)) for i in range(2000))}
    unlucky = sorted(voices, key=lambda p: change(voices[p]))[:6]
    verdicts = {1: [], 2: []}
    for revision, system in ((1, first), (2, second)):
        for pseudonym in unlucky:
            try:
                anonymize_file(system, pseudonym, speech, tmp_path / "o.wav", overwrite=True)
            except AudioError as error:
                verdicts[revision].append(str(error))
    assert verdicts[1]
    assert all("nearly the input" in message for message in verdicts[1])
    assert verdicts[2] == []
