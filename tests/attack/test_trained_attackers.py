"""The attacker who trains its verifier on protected speech."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import soundfile

from voicenym import Key
from voicenym.attack.attacker_resources import AttackerTraining
from voicenym.attack.scenario import Model, Protection, Scenario
from voicenym.attack.trained.trained_attackers import (
    SemiInformedFusion,
    SemiInformedIVectors,
    SemiInformedProsody,
    SemiInformedVerifier,
)
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording

pytest.importorskip("lightning")

CONFIG = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
seconds: 0.4
batch: 8
speeds: [1.0]
steps: 6
every: 3
"""


@pytest.fixture
def training(tmp_path, monkeypatch):
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.corpus.workers.cpu_count.cores", lambda: 1)
    config = tmp_path / "tiny.yaml"
    config.write_text(CONFIG)
    return AttackerTraining(tmp_path / "attackers", 3600.0, None, voices=2, config=str(config))


def test_it_trains_once_on_protected_speech_of_the_pool_and_remembers(scenario, training, spectrum):
    messages = []
    attacker = SemiInformedVerifier(training, messages.append)
    assert attacker.training_curve(scenario) == []
    with Embedder() as embedder:
        scores = attacker.scores(scenario, spectrum, embedder)
        assert scores.shape == (3, 3)
        assert np.abs(scores).max() <= 1.0 + 1e-9
        curve = attacker.training_curve(scenario)
        assert [row["step"] for row in curve] == [3, 6]
        assert all(0.0 <= row["EER %"] <= 100.0 for row in curve)
        lines = len(messages)
        np.testing.assert_array_equal(attacker.scores(scenario, spectrum, embedder), scores)
    assert len(messages) == lines > 0
    assert messages[0].startswith("semi-informed (verifier trained): protecting ")
    assert messages[1].startswith("semi-informed (verifier trained): training, up to 60 min, on ")
    assert all(line.startswith(attacker.name) for line in messages), "what is trained"
    assert any("step 6, " in line and " min: " in line for line in messages), "and for how long"
    assert spectrum.embedded == 0  # it uses its own verifier
    assert attacker.verifier_name(spectrum) == attacker.own_verifier
    # It learns from protected speech of the pool alone.
    cached = sorted((training.folder / "speech").glob("*.i16"))
    # Four people kept out of six, under one voice; two people of four recordings under three.
    assert len(cached) == 16 + 3 * 8
    originals = {np.rint(r.samples() * 32767).astype(np.int16).tobytes() for r in scenario.pool}
    assert not originals & {path.read_bytes() for path in cached}


def test_another_system_pool_or_lesson_is_another_training(scenario, training):
    places = {SemiInformedVerifier(training).place(scenario)}
    other = Protection.by("vtln", Key(bytes(32)))
    places.add(
        SemiInformedVerifier(training).place(
            Scenario(scenario.models, scenario.trials, other, scenario.key, scenario.pool)
        )
    )
    fewer = Scenario(
        scenario.models, scenario.trials, scenario.protection, scenario.key, scenario.pool[:-1]
    )
    places.add(SemiInformedVerifier(training).place(fewer))
    places.add(
        SemiInformedVerifier(
            AttackerTraining(training.folder, 30.0, None, 2, training.config)
        ).place(scenario)
    )
    assert len(places) == 4


def test_a_limit_of_steps_needs_no_clock(scenario, training, spectrum):
    steps = replace(training, seconds=0.0, steps=3)
    attacker = SemiInformedVerifier(steps, (messages := []).append)
    assert attacker.place(scenario) != SemiInformedVerifier(training).place(scenario)
    with Embedder() as embedder:
        scores = attacker.scores(scenario, spectrum, embedder)
    assert np.isfinite(scores).all()
    assert [row["step"] for row in attacker.training_curve(scenario)] == [3]
    assert "training, up to 3 steps, on" in messages[1]


def test_a_pool_of_one_recording_each_keeps_it_from_running(scenario, training):
    """It could not be validated; the evaluation goes on without it, and says so."""
    attacker = SemiInformedVerifier(training)
    assert attacker.obstacle(scenario) == ""
    single = list({recording.speaker: recording for recording in scenario.pool}.values())
    why = attacker.obstacle(replace(scenario, pool=tuple(single)))
    assert why.startswith("semi-informed (verifier trained) was not run: ")
    assert "0 of them with two recordings or more" in why
    assert SemiInformedIVectors(training).obstacle(replace(scenario, pool=tuple(single))) == ""


def test_a_share_of_the_limits(training):
    both = replace(training, steps=10)
    assert (both.share(0.25).seconds, both.share(0.25).steps) == (900.0, 2)
    assert training.share(0.25).steps is None
    assert replace(training, steps=1).share(0.25).steps == 1, "a training has a step"
    assert both.limits == "60 min or 10 steps"
    assert not replace(training, seconds=0.0).of_networks


def test_statistics_are_trained_once_and_add_up(voice, training, spectrum, tmp_path):
    pool = []
    for speaker in range(20):
        for take in range(4):
            path = tmp_path / f"{speaker}-{take}.wav"
            soundfile.write(path, voice(speaker, take).samples(), 16_000)
            pool.append(Recording(path.stem, f"s{speaker}", path, "f"))
    models = tuple(Model(f"m{s}", f"s{s}", tuple(pool[4 * s : 4 * s + 2])) for s in range(3))
    protection = Protection.by("vtln", Key(bytes(32)))
    training = replace(training, voices=1)
    scenario = Scenario(
        models, tuple(pool[3:12:4]), protection, Key(bytes(range(32))), tuple(pool[12:])
    )
    messages = []
    attacker = SemiInformedIVectors(training, messages.append)
    with Embedder() as embedder:
        scores = attacker.scores(scenario, spectrum, embedder)
        assert scores.shape == (3, 3)
        assert np.isfinite(scores).all()
        lines = len(messages)
        np.testing.assert_array_equal(attacker.scores(scenario, spectrum, embedder), scores)
    assert len(messages) == lines > 0
    assert all(line.startswith(attacker.name) for line in messages), "what is trained"
    assert attacker.training_curve(scenario) == []
    assert attacker.place(scenario) != SemiInformedVerifier(training).place(scenario)
    prosody = SemiInformedProsody(training, messages.append)
    with Embedder() as embedder:
        of_prosody = prosody.scores(scenario, spectrum, embedder)
        together = SemiInformedFusion(training).scores(scenario, spectrum, embedder)
    np.testing.assert_allclose(together, scores + of_prosody)
    assert prosody.place(scenario) != attacker.place(scenario)
    assert prosody.verifier_name(spectrum) == prosody.own_verifier
