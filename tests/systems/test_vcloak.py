"""``vcloak``: its bound at every rate, its targets, and refused settings."""

from __future__ import annotations

import json
import math
import os
import shutil

import pytest
import soundfile
import torch

from voicenym import Audio, Key, load, read
from voicenym.corpus.batches.batch import Job
from voicenym.dsp.resampling import RateChanger
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError
from voicenym.nets.checkpoint import CONFIG
from voicenym.nets.cloak.cloak import Cloak
from voicenym.nets.cloak.geometry import WaveUNetConfig
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.speaker_encoders import load as load_encoder
from voicenym.nets.speakers.speaker_encoders import save
from voicenym.systems.vcloak import BUNDLED, VERIFIERS

pytest.importorskip("safetensors")

KEY = Key(bytes(range(32)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Weights whose ball is met everywhere, and the verifier that their targets belong to."""
    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(1)
    cloak = Cloak(WaveUNetConfig((4, 6, 8), stride=2, voiceprint=12))
    torch.nn.init.normal_(cloak.net.out.weight, std=20.0)
    for linear in cloak.net.modulation:
        torch.nn.init.normal_(linear.weight)
    cloak.save(folder / "cloak", verifiers=["elsewhere"])
    save(Ecapa(channels=16, size=12, attention=8, squeeze=8), folder / "verifier")
    return {"weights": str(folder / "cloak"), "verifier": str(folder / "verifier")}


def hum(rate, seconds=1.0, hertz=150.0):
    time = torch.arange(round(seconds * rate)) / rate
    return 0.1 * sum(torch.sin(2 * math.pi * k * hertz * time + k) / k for k in range(1, 9))


def below_8_khz(speech, rate):
    """What a rate of 16 kHz holds of ``[time]``."""
    down, up = RateChanger(rate, 16_000, 1), RateChanger(16_000, rate, 1)
    narrow = torch.cat([down.push(speech[None]), down.flush()], dim=1)
    found = torch.cat([up.push(narrow), up.flush()], dim=1)[0, : len(speech)]
    return torch.nn.functional.pad(found, (0, len(speech) - len(found)))


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000])
@pytest.mark.parametrize("gain", [0.05, 1.0, 4.0])
def test_no_sample_moves_by_more_than_epsilon(trained, rate, gain):
    given = (gain * hum(rate)).clamp(-0.85, 0.85)
    speech = below_8_khz(given, rate) if rate > 16_000 else given
    for epsilon in (0.02, 0.1):
        system = load("vcloak", epsilon=epsilon, weights=trained["weights"])
        made = system(Audio(given, rate), KEY.pseudonym("a")).samples
        moved = (made - speech).abs()
        # above 0.9 every system's output is bent, here by 0.006 at most
        inside = made.abs() < 0.9
        assert moved[inside].max() <= epsilon + 1e-6
        assert moved.max() <= epsilon + 0.01
        assert moved.max() > 0.3 * epsilon * min(1.0, gain)
        assert made.abs().max() <= 1.0


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
def test_blocks_are_the_whole_sample_by_sample(trained, rate):
    system, speech = load("vcloak", weights=trained["weights"]), hum(rate, 0.6)
    whole = system(Audio(speech, rate), KEY.pseudonym("a")).samples
    for size in (61, 4_000):
        stream = system.stream(KEY.pseudonym("a"), rate)
        parts = [stream.push(part) for part in speech.split(size)]
        torch.testing.assert_close(torch.cat([*parts, stream.flush()]), whole)


def test_bf16_adds_nearly_the_same_in_blocks_too(trained):
    speech = hum(16_000, 0.6)
    exact = load("vcloak", weights=trained["weights"])(Audio(speech, 16_000), KEY.pseudonym("a"))
    system = load("vcloak", weights=trained["weights"], precision="bf16")
    brief = system(Audio(speech, 16_000), KEY.pseudonym("a"))
    stream = system.stream(KEY.pseudonym("a"), 16_000)
    parts = torch.cat([*(stream.push(part) for part in speech.split(320)), stream.flush()])
    added = (exact.samples - speech).square().mean().sqrt()
    for made in (brief.samples, parts):
        apart = (made - exact.samples).square().mean().sqrt()
        assert 0.0 < apart < 0.05 * added
        assert (made - speech).abs().max() <= system.epsilon + 1e-6


def test_a_precision_that_there_is_not_is_refused():
    with pytest.raises(UnknownSystemError, match="one of single, bf16, not 'half'"):
        load("vcloak", precision="half")


def test_the_pseudonym_chooses_the_target_and_nothing_else_does(trained):
    speech = Audio(hum(16_000), 16_000)
    system = load("vcloak", weights=trained["weights"])
    one, again, other = (system(speech, KEY.pseudonym(who)).samples for who in "aab")
    assert torch.equal(one, again)
    assert (one - other).abs().max() > 1e-3
    nobody = load("vcloak", weights=trained["weights"], untargeted=True)
    assert torch.equal(*(nobody(speech, KEY.pseudonym(who)).samples for who in "ab"))
    assert (nobody(speech, KEY.pseudonym("a")).samples - one).abs().max() > 1e-3


def test_a_recording_may_be_the_target(trained, tmp_path):
    speech = Audio(hum(16_000), 16_000)
    made = {}
    for hertz in (110, 260):
        path = tmp_path / f"{hertz}.wav"
        soundfile.write(path, hum(22_050, 2.5, hertz).numpy(), 22_050)
        system = load("vcloak", target=str(path), **trained)
        made[hertz] = system(speech, KEY.pseudonym("a")).samples
        assert torch.equal(made[hertz], system(speech, KEY.pseudonym("b")).samples)
    assert (made[110] - made[260]).abs().max() > 1e-4


def test_another_target_under_the_same_path_is_another_system(trained, tmp_path):
    """In reports, logs and caches, and in a process that has seen the one before."""
    speech, path = Audio(hum(16_000), 16_000), tmp_path / "target.wav"
    system = load("vcloak", target=str(path), **trained)
    made, versions = [], []
    for number, hertz in enumerate((110, 260, 110)):
        soundfile.write(path, hum(22_050, 2.5, hertz).numpy(), 22_050)
        os.utime(path, (number, number))  # clocks of file systems may be coarse
        versions.append(system.version)
        made.append(system(speech, KEY.pseudonym("a")).samples)
    assert versions[0] == versions[2] != versions[1]
    assert torch.equal(made[0], made[2])
    assert (made[0] - made[1]).abs().max() > 1e-4
    job = [Job("vcloak", system.parameters(), KEY, version=one).stamp() for one in versions]
    assert job[0] == job[2] != job[1]


def test_another_verifier_and_other_weights_under_one_path_are_another_system(trained, tmp_path):
    speech, path = Audio(hum(16_000), 16_000), tmp_path / "target.wav"
    soundfile.write(path, hum(22_050, 2.5).numpy(), 22_050)
    for name in trained:
        shutil.copytree(trained[name], tmp_path / name)
    own = {name: str(tmp_path / name) for name in trained}
    system = load("vcloak", target=str(path), **own)
    before, made = system.version, system(speech, KEY.pseudonym("a")).samples
    torch.manual_seed(2)
    save(Ecapa(channels=16, size=12, attention=8, squeeze=8), tmp_path / "verifier")
    os.utime(tmp_path / "verifier" / CONFIG, (1, 1))  # clocks of file systems may be coarse
    other, after = system.version, system(speech, KEY.pseudonym("a")).samples
    assert other != before
    assert not torch.equal(made, after)
    cloak = Cloak(WaveUNetConfig((4, 6, 8), stride=2, voiceprint=12))
    torch.nn.init.normal_(cloak.net.out.weight, std=20.0)
    cloak.save(tmp_path / "weights", verifiers=["elsewhere"])
    os.utime(tmp_path / "weights" / CONFIG, (1, 1))
    assert system.version not in (before, other)
    assert not torch.equal(after, system(speech, KEY.pseudonym("a")).samples)


def test_bundled_weights_move_towards_a_target(sample, tmp_path):
    """Weights of targets are bundled beside those of drawn ones, and approach a target more."""
    encoder = load_encoder(VERIFIERS / "ecapa-small")
    speech = read(sample)
    other = load("recast")(speech, KEY.pseudonym("another"))
    place = tmp_path / "target.wav"
    soundfile.write(place, other.samples.reshape(-1).numpy(), speech.rate)

    def near(**fields):
        system = load("vcloak", epsilon=0.1, target=str(place), **fields)
        made = system(speech, KEY.pseudonym("a")).samples.reshape(-1)
        return cosine(made)

    def cosine(samples):
        one, two = encoder.embed([samples, other.samples.reshape(-1)])
        return float(torch.nn.functional.cosine_similarity(one, two, dim=0))

    assert speech.rate == 16_000
    assert near() > cosine(speech.samples.reshape(-1)) + 0.1
    assert near() > near(weights=str(BUNDLED)) + 0.1
    assert load("vcloak", target=str(place)).version != load("vcloak").version


def test_a_target_that_is_too_short_or_silent_is_refused(trained, tmp_path):
    speech = Audio(hum(16_000), 16_000)
    short, silent = tmp_path / "short.wav", tmp_path / "silent.wav"
    soundfile.write(short, hum(16_000, 1.9).numpy(), 16_000)
    soundfile.write(silent, torch.zeros(48_000).numpy(), 16_000)
    for path, message in ((short, "1.9 s are too short"), (silent, "is silent")):
        with pytest.raises(AudioError, match=message):
            load("vcloak", target=str(path), **trained)(speech, KEY.pseudonym("a"))


def test_a_target_needs_the_verifier_of_the_weights(trained, tmp_path):
    path = tmp_path / "target.wav"
    soundfile.write(path, hum(16_000, 2.5).numpy(), 16_000)
    speech = Audio(hum(16_000), 16_000)
    with pytest.raises(VoicenymError, match="no verifier 'elsewhere'"):
        load("vcloak", target=str(path), weights=trained["weights"])(speech, KEY.pseudonym("a"))
    save(Ecapa(channels=16, size=20, attention=8, squeeze=8), tmp_path / "other")
    given = {"weights": trained["weights"], "verifier": str(tmp_path / "other")}
    with pytest.raises(VoicenymError, match="have 20 elements, the weights' 12"):
        load("vcloak", target=str(path), **given)(speech, KEY.pseudonym("a"))


@pytest.mark.parametrize("epsilon", [0.0, 0.004, 0.16, 1.0, -0.05, float("nan")])
def test_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(UnknownSystemError, match=r"epsilon must be from 0.005 to 0.15"):
        load("vcloak", epsilon=epsilon)


def test_a_target_and_none_exclude_each_other():
    with pytest.raises(UnknownSystemError, match="exclude each other"):
        load("vcloak", target="voice.wav", untargeted=True)


def test_weights_of_another_k_are_refused(trained, tmp_path):
    deep = Cloak(WaveUNetConfig((4, 6, 8, 8), stride=2, voiceprint=12))
    deep.save(tmp_path)  # K = 3
    recorded = json.loads((tmp_path / "config.json").read_text())
    recorded["options"]["channels"] = [4, 6, 8]
    (tmp_path / "config.json").write_text(json.dumps(recorded))
    with pytest.raises(VoicenymError, match="K = 3 blocks, and its configuration 2"):
        load("vcloak", weights=str(tmp_path))(Audio(hum(16_000), 16_000), KEY.pseudonym("a"))


def test_silence_stays_silence_at_every_rate(trained):
    for rate in (8_000, 16_000, 48_000):
        system = load("vcloak", weights=trained["weights"])
        made = system(Audio(torch.zeros(2, rate), rate), KEY.pseudonym("a")).samples
        assert not made.any()


def test_the_bundled_weights_meet_the_ball_and_the_stated_delay():
    system = load("vcloak")
    assert system.stream(KEY.pseudonym("a"), 16_000).latency < 0.1 * 16_000
    speech = hum(16_000)
    made = system(Audio(speech, 16_000), KEY.pseudonym("a")).samples
    assert 1e-3 < (made - speech).abs().max() <= system.epsilon + 1e-6
