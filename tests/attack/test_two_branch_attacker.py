"""The attacker with a pre-trained two-branch verifier."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
import torch

from voicenym import Key
from voicenym.attack.attacker_resources import AttackerTraining, Resources
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.attack.trained.two_branch_attacker import SemiInformedTwoBranch, why_not
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.errors import VoicenymError
from voicenym.metrics import eer
from voicenym.nets.speakers import speaker_encoders
from voicenym.nets.speakers.two_branch import TwoBranch

pytest.importorskip("lightning")


@pytest.fixture(autouse=True)
def one_thread():
    """Threads wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def pretrained(tiny_whisper, tmp_path):
    torch.manual_seed(0)
    ecapa = speaker_encoders.load(speaker_encoders.SMALL)
    network = TwoBranch(
        place=str(tiny_whisper), layers=(0, 1, 2), width=16, second=16, **ecapa.config()
    )
    network.begin_from(ecapa)
    network.source()
    speaker_encoders.save(network, tmp_path / "pretrained")
    return tmp_path / "pretrained"


def resources(training, **changed):
    usual = {"pool_recordings": 200, "pool_speakers": 9, "training": training}
    return Resources("vtln", **{**usual, **changed})


def test_it_runs_where_its_weights_are(pretrained, tmp_path):
    training = AttackerTraining(tmp_path, 60.0, pretrained=pretrained)
    (found,) = SemiInformedTwoBranch.available(resources(training))
    assert "two-branch" in found.name
    assert not SemiInformedTwoBranch.available(resources(training, pool_speakers=1))
    assert not SemiInformedTwoBranch.available(resources(AttackerTraining(tmp_path, 60.0)))
    brief = AttackerTraining(tmp_path, 0.0, pretrained=pretrained)
    assert not SemiInformedTwoBranch.available(resources(brief))
    path = pretrained / "config.json"
    config = json.loads(path.read_text())
    config["options"]["place"] = "whisper-tiny.en"
    path.write_text(json.dumps(config))
    assert "whisper-tiny.en" in why_not(pretrained)
    assert not SemiInformedTwoBranch.available(resources(training))
    assert "voicenym train two-branch" in why_not(None)
    with pytest.raises(VoicenymError, match="no verifier"):
        why_not(tmp_path)
    with pytest.raises(VoicenymError, match="a ecapa verifier"):
        why_not(speaker_encoders.SMALL)


def test_it_finds_people_who_are_only_thinly_disguised(voice, pretrained, tmp_path, monkeypatch):
    monkeypatch.setattr("voicenym.corpus.workers.cpu_count.cores", lambda: 1)
    config = """
seconds: 0.5
batch: 16
steps: 8
every: 4
rate: 4.0e-4
stretch: 0.02
changes: {warp: 0.0, noise: 0.0, alone: 0.0}
schedule: {cycles: 1}
"""
    recipe = tmp_path / "adapt.yaml"
    recipe.write_text(config)
    monkeypatch.setattr("voicenym.attack.trained.two_branch_attacker.TWO_BRANCH", str(recipe))
    recordings = []
    for speaker in range(24):
        for take in range(4):
            path = tmp_path / f"{speaker}-{take}.wav"
            soundfile.write(path, voice(speaker, take).samples(), 16_000)
            recordings.append(Recording(path.stem, f"s{speaker}", path, "f"))
    models = tuple(Model(f"m{s}", f"s{s}", tuple(recordings[4 * s : 4 * s + 2])) for s in range(8))
    trials = tuple(recordings[4 * s + n] for s in range(8) for n in (2, 3))
    thin = (("low", 0.97), ("high", 1.0))
    protection = Protection.by("mcadams", Key(bytes(32)), parameters=thin)
    scenario = Scenario(models, trials, protection, Key(bytes(range(32))), tuple(recordings[32:]))
    messages = []
    training = AttackerTraining(tmp_path / "attackers", 3600.0, voices=1, pretrained=pretrained)
    attacker = SemiInformedTwoBranch(training, messages.append)
    with Embedder() as embedder:
        scores = attacker.scores(scenario, None, embedder)
    same = np.repeat(np.eye(8, dtype=bool), 2, axis=1)
    found = eer(scores[same], scores[~same])
    assert found.value < 0.15, "0.5 by chance"
    assert [row["step"] for row in attacker.training_curve(scenario)] == [4, 8]
    other = AttackerTraining(tmp_path / "attackers", 60.0, voices=1, pretrained=pretrained)
    assert SemiInformedTwoBranch(other).place(scenario) != attacker.place(scenario)
