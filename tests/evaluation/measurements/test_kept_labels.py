"""Emotion and accent on speech whose labels are loudness patterns that a classifier finds."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from voicenym.attack.scenario import Model
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import Transform, Undo
from voicenym.evaluation.measurements.kept_labels import Classifiers
from voicenym.evaluation.reports.report_details import utility
from voicenym.evaluation.results import Evaluation
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.verification.verifier import Verifier

ORIGINAL, CHANGED = Transform(), Transform((Undo("mcadams", ()),))


class Drawn:
    """An embedder of drawn features: 1 in the first for glad speech, unless it is changed."""

    def vectors_or_reasons(self, extractor, speech, transform):
        rng = np.random.default_rng(len(speech))
        glad = np.array([one.emotion == "glad" for one in speech]) & (transform == ORIGINAL)
        found = rng.normal(size=(len(speech), 4))
        found[:, 0] = 6.0 * glad + rng.normal(size=len(speech))
        return ["it failed" if one.name.endswith("bad") else x for one, x in zip(speech, found)]  # noqa: B905


def people(count, first=0, each=6, labels=("glad", "calm"), accent=""):
    return [
        Recording(
            f"u{s}-{n}", f"s{s}", Path("none"), emotion=labels[n % len(labels)], accent=accent
        )
        for s in range(first, first + count)
        for n in range(each)
    ]


def trials(speech):
    speakers = sorted({one.speaker for one in speech})
    models = tuple(
        Model(who, who, tuple(one for one in speech if one.speaker == who)[:2]) for who in speakers
    )
    tested = np.ones((len(models), len(speech)), dtype=bool)
    return Trials(models, tuple(speech), tested)


def measured(speech, pool=(), transform=ORIGINAL):
    found = Classifiers(trials(speech), pool, ORIGINAL, (Verifier,), Drawn(), 50)
    return found.measure(transform), found.notes


@pytest.mark.parametrize("pool", [(), people(8, 100)])
def test_labels_are_found_on_originals_and_lost_with_the_features(pool):
    figures, notes = measured(people(24), pool)
    assert figures["emotion UAR"].value > 95.0
    assert notes == (
        "accent was not measured: the corpus has no such labels (columns emotion, accent of a "
        "manifest)",
    )
    lost = measured(people(24), pool, CHANGED)[0]["emotion UAR"]
    assert lost.low < 50.0 + 8.0
    assert 35.0 < lost.value < 65.0


def test_speakers_are_never_guessed_by_what_they_taught():
    """Labels that are the speakers' alone, on features that name the speaker: chance, not 100 %."""
    speech = [
        dataclasses.replace(one, emotion="", accent="xy"[int(one.speaker[1:]) % 2])
        for one in people(20)
    ]

    class Named(Drawn):
        def vectors_or_reasons(self, extractor, recordings, transform):
            rows = [np.eye(20)[int(one.speaker[1:])] for one in recordings]
            return [10.0 * row for row in rows]

    found = Classifiers(trials(speech), (), ORIGINAL, (Verifier,), Named(), 50)
    assert found.measure(ORIGINAL)["accent UAR"].value <= 60.0


def test_too_few_labels_are_reported():
    _, notes = measured(people(6, labels=("",)))
    assert len(notes) == 1
    assert notes[0].startswith(
        "emotion and accent were not measured: the corpus has no such labels"
    )
    figures, notes = measured(people(6, labels=("glad",)))
    assert figures == {}
    assert "emotion was not measured: a classifier needs 2 labels of 2 speakers each" in notes[1]
    figures, _ = measured([*people(24), dataclasses.replace(people(1)[0], name="bad")])
    assert figures["emotion UAR"].value > 95.0, "a recording that fails is left out"


def test_a_manifest_has_the_labels_and_the_report_a_table(tmp_path, sample):
    text = f"utterance\tpath\tspeaker\temotion\taccent\nu1\t{sample}\ts1\tHappy\tScottish \n"
    (tmp_path / "manifest.tsv").write_text(text)
    (found,) = recordings(tmp_path / "manifest.tsv")
    assert (found.emotion, found.accent) == ("happy", "scottish")
    figures, _ = measured(people(24))
    page = "".join(utility(Evaluation("1", "2026-01-01", "d", 1, 1, (), (), figures)))
    assert "Emotion and accent" in page
    assert "emotion UAR" in page
