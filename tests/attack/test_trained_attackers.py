"""The attacker who trains its verifier on protected speech."""

from __future__ import annotations

import numpy as np
import pytest
import soundfile

from voicenym import Key
from voicenym.attack.embedder import Embedder
from voicenym.attack.scenario import Case, Model, Protection
from voicenym.attack.trained_attackers import (
    Lesson,
    SemiInformed,
    SemiInformedCourse,
    SemiInformedStatistics,
    SemiInformedTogether,
)
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
def case(corpus):
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(r for r in corpus if r.speaker == f"s{s}")[:2], "f")
        for s in range(3)
    )
    trials = tuple(r for r in corpus if r.name.endswith("u3"))[:3]
    protection = Protection.by("mcadams", Key(bytes(32)))
    return Case(models, trials, protection, Key(bytes(range(32))), tuple(corpus))


@pytest.fixture
def lesson(tmp_path, monkeypatch):
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.training.run.cpu_count.cores", lambda: 1)
    config = tmp_path / "tiny.yaml"
    config.write_text(CONFIG)
    return Lesson(tmp_path / "attackers", 3600.0, None, voices=2, config=str(config))


def test_it_trains_once_and_remembers(case, lesson, spectrum):
    said = []
    attacker = SemiInformed(lesson, said.append)
    assert attacker.learning(case) == []
    with Embedder() as embedder:
        scores = attacker.scores(case, spectrum, embedder)
        assert scores.shape == (3, 3)
        assert np.abs(scores).max() <= 1.0 + 1e-9
        curve = attacker.learning(case)
        assert [row["step"] for row in curve] == [3, 6]
        assert all(0.0 <= row["EER %"] <= 100.0 for row in curve)
        told = len(said)
        np.testing.assert_array_equal(attacker.scores(case, spectrum, embedder), scores)
    assert len(said) == told > 0
    assert spectrum.heard == 0  # it has an ear of its own
    assert attacker.hears(spectrum) == attacker.ear


def test_it_learns_from_protected_speech_of_the_pool_alone(case, lesson, spectrum):
    attacker = SemiInformed(lesson)
    with Embedder() as embedder:
        attacker.scores(case, spectrum, embedder)
    shelved = sorted((lesson.folder / "speech").glob("*.i16"))
    # Four people kept out of six, under one voice; two people of four recordings under three.
    assert len(shelved) == 16 + 3 * 8
    originals = {np.rint(r.samples() * 32767).astype(np.int16).tobytes() for r in case.pool}
    assert not originals & {path.read_bytes() for path in shelved}


def test_another_system_pool_or_lesson_is_another_training(case, lesson):
    places = {SemiInformed(lesson).place(case)}
    other = Protection.by("vtln", Key(bytes(32)))
    places.add(
        SemiInformed(lesson).place(Case(case.models, case.trials, other, case.key, case.pool))
    )
    fewer = Case(case.models, case.trials, case.protection, case.key, case.pool[:-1])
    places.add(SemiInformed(lesson).place(fewer))
    places.add(SemiInformed(Lesson(lesson.folder, 30.0, None, 2, lesson.config)).place(case))
    assert len(places) == 4


def test_statistics_are_trained_once_and_add_up(voice, lesson, spectrum, tmp_path):
    pool = []
    for speaker in range(20):
        for take in range(4):
            path = tmp_path / f"{speaker}-{take}.wav"
            soundfile.write(path, voice(speaker, take).samples(), 16_000)
            pool.append(Recording(path.stem, f"s{speaker}", path, "f"))
    models = tuple(Model(f"m{s}", f"s{s}", tuple(pool[4 * s : 4 * s + 2])) for s in range(3))
    protection = Protection.by("mcadams", Key(bytes(32)))
    case = Case(models, tuple(pool[3:12:4]), protection, Key(bytes(range(32))), tuple(pool[12:]))
    said = []
    attacker = SemiInformedStatistics(lesson, said.append)
    with Embedder() as embedder:
        scores = attacker.scores(case, spectrum, embedder)
        assert scores.shape == (3, 3)
        assert np.isfinite(scores).all()
        told = len(said)
        np.testing.assert_array_equal(attacker.scores(case, spectrum, embedder), scores)
    assert len(said) == told > 0
    assert attacker.learning(case) == []
    assert attacker.place(case) != SemiInformed(lesson).place(case)
    course = SemiInformedCourse(lesson, said.append)
    with Embedder() as embedder:
        of_course = course.scores(case, spectrum, embedder)
        together = SemiInformedTogether(lesson).scores(case, spectrum, embedder)
    np.testing.assert_allclose(together, scores + of_course)
    assert course.place(case) != attacker.place(case)
    assert course.hears(spectrum) == course.ear
