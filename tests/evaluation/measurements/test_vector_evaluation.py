"""Evaluation of identity methods with known protection, on synthetic vectors."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch

from voicenym import Key
from voicenym.errors import CorpusError, VoicenymError
from voicenym.evaluation.measurements.vector_evaluation import (
    Bench,
    Candidate,
    anonymized_vectors,
    evaluate_method,
)
from voicenym.evaluation.reports import vector_report
from voicenym.identity.blank import Blank
from voicenym.identity.copy import Copy
from voicenym.identity.method import Identity
from voicenym.identity.pools.speaker_pool import Pool

SIZE, USER, ATTACKER = 16, Key(bytes(32)), Key(bytes([1]) * 32)


def spoken(prefix: str, people: int, per_speaker: int, seed: int) -> Pool:
    """Utterances around each speaker's own vector, half of the speakers women."""
    noise = torch.Generator().manual_seed(seed)
    own = torch.randn(people, SIZE, generator=noise)
    vectors = own.repeat_interleave(per_speaker, 0)
    vectors = vectors + 0.45 * torch.randn(people * per_speaker, SIZE, generator=noise)
    names = [f"{prefix}{i:02d}" for i in range(people) for _ in range(per_speaker)]
    sexes = ["fm"[i % 2] for i in range(people) for _ in range(per_speaker)]
    return Pool(vectors, tuple(sexes), tuple(names), "invented")


@dataclass(frozen=True)
class Rotation(Identity):
    """One rotation for everybody, whatever the key: whoever knows the method undoes it."""

    name: ClassVar[str] = "rotation"
    source: ClassVar[str] = "this test"

    def anonymize(self, vectors, pseudonyms, sexes):
        noise = torch.Generator().manual_seed(5)
        turned, _ = torch.linalg.qr(torch.randn(SIZE, SIZE, generator=noise))
        return vectors @ turned


@dataclass(frozen=True)
class Stranger(Identity):
    """A vector of the pseudonym's alone."""

    name: ClassVar[str] = "stranger"
    source: ClassVar[str] = "this test"

    def anonymize(self, vectors, pseudonyms, sexes):
        return torch.tensor([p.normals("stranger", SIZE) for p in pseudonyms])


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench.of(spoken("u", 30, 8, 0), spoken("o", 30, 6, 1), 4, 4, 0)


@pytest.fixture(scope="module")
def judged(bench):
    methods = (Copy(), Rotation(), Stranger(), Blank())
    return {
        m.name: evaluate_method(Candidate(m.name, m), bench, USER, ATTACKER, replicates=50)
        for m in methods
    }


def test_a_copy_protects_nobody(judged):
    found = judged["copy"].errors
    assert found["unprotected"].value < 10
    for attacker in ("ignorant", "lazy-informed"):
        assert found[attacker] == found["unprotected"]
    assert found["semi-informed"].value < 10
    assert judged["copy"].figures["G_VD"].value == pytest.approx(0.0)
    assert judged["copy"].figures["D_KS"].value == 0.0


def test_a_rotation_protects_only_from_who_does_not_know_it(judged):
    found = judged["rotation"].errors
    assert found["ignorant"].value > 35
    for attacker in ("lazy-informed", "semi-informed", "inverting"):
        assert found[attacker].value < found["unprotected"].value + 5
    assert judged["rotation"].figures["DeID"].value > 0.6
    assert judged["rotation"].figures["D_KS"].value < 0.01


def test_a_stranger_protects_from_everybody(judged):
    for attacker, found in judged["stranger"].errors.items():
        if attacker != "unprotected":
            assert found.low < 52
            assert found.high > 48
            assert found.value > 38


def test_a_zero_vector_has_no_direction_and_raises(judged):
    found = judged["blank"]
    assert found.errors["lazy-informed"].value == 50.0
    assert found.figures == {}
    assert any("no direction" in note for note in found.notes)
    assert any(note.startswith("semi-informed") for note in found.notes)
    assert "semi-informed" not in found.errors


def test_an_attacker_with_other_weights_runs_them(bench):
    one = evaluate_method(
        Candidate("a", Rotation(), Stranger()), bench, USER, ATTACKER, replicates=20
    )
    assert one.errors["lazy-informed"].value > 35


def test_pseudonyms_are_per_speaker_or_utterance(bench):
    rows = bench.tried[:2]
    names, sexes = ["a", "a"], ["f", ""]
    same = anonymized_vectors(Stranger(), rows, names, sexes, USER, "speaker")
    assert torch.equal(same[0], same[1])
    other = anonymized_vectors(Stranger(), rows, names, sexes, USER, "utterance")
    assert not torch.equal(other[0], other[1])


def test_users_and_others_must_fit(bench):
    users, others = spoken("u", 6, 4, 0), spoken("o", 6, 4, 1)
    with pytest.raises(CorpusError, match="u00 is among users and others"):
        Bench.of(users, users, 2, 2, 0)
    with pytest.raises(VoicenymError, match="by other, not by invented"):
        Bench.of(users, replace(others, encoder="other"), 2, 2, 0)
    single = spoken("u", 6, 1, 0)
    with pytest.raises(CorpusError, match="one utterance each"):
        Bench.of(single, others, 2, 2, 0)


def test_the_report_holds_every_figure(judged, bench, tmp_path):
    page = vector_report.write(list(judged.values()), bench, tmp_path, "invented <voices>")
    text = page.read_text()
    assert "Invented &lt;voices&gt;." in text
    assert text.count("<svg") == 2 + len(judged)
    held = json.loads((tmp_path / "vectors.json").read_text())
    assert [one["name"] for one in held["methods"]] == list(judged)
    copied = held["methods"][0]["EER"]["ignorant"]["value"]
    assert copied == judged["copy"].errors["ignorant"].value
    rows = vector_report.records(list(judged.values()))
    assert [row["method"] for row in rows] == ["(unprotected)", *judged]
    assert len({tuple(row) for row in rows}) == 1
    assert np.isfinite(judged["copy"].seconds)
