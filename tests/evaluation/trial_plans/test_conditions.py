"""Figures by sex, age group, corpus and list: their trials, and groups that are too small."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.attack.attackers import Ignorant, Unprotected
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.evaluation import results_file
from voicenym.evaluation.measurements import distinctiveness, protection
from voicenym.evaluation.measurements.utility import _words_by_condition
from voicenym.evaluation.reports import condition_tables
from voicenym.evaluation.results import Evaluation, SystemResults
from voicenym.evaluation.trial_plans.conditions import conditions, measurable
from voicenym.evaluation.trial_plans.trials import Part, Trials, build
from voicenym.metrics import eer, gain_of_voice_distinctiveness
from voicenym.metrics.metric_inputs import RecognisedWords, SpeechPairs
from voicenym.metrics.words.word_error_rate import WORDS

CHILDREN = 4


def speech(speakers=16, each=6):
    """Half women; of both sexes, the first speakers are children."""
    return [
        Recording(f"s{s:02}-{u}", f"s{s:02}", Path("x"), "fm"[s % 2], f"word {u}",
                  age="9" if s < 2 * CHILDREN else "40", corpus="lp"[s % 4 == 0])
        for s in range(speakers) for u in range(each)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def trials():
    return build(speech())


@pytest.fixture(scope="module")
def scores(trials):
    """Children are found, adults are not."""
    young = np.array([m.recordings[0].age == "9" for m in trials.models])
    distance = np.where(young, 4.0, 0.0)[:, None] * trials.target
    return np.random.default_rng(0).standard_normal(trials.tested.shape) + distance


def test_a_pair_is_in_a_group_where_both_speakers_are(trials):
    found = {condition.name: condition for condition in conditions(trials)}
    assert set(found) == {"f", "m", "children", "adults", "l", "p"}
    assert [c.size.kind for c in found.values()] == [
        "sex", "sex", "age", "age", "corpus", "corpus",
    ]  # fmt: skip
    children = found["children"]
    assert children.size.speakers == 2 * CHILDREN
    for model, recording in np.argwhere(children.tested):
        assert trials.models[model].recordings[0].age == trials.recordings[recording].age == "9"
    assert children.recordings == {r.name for r in trials.recordings if r.age == "9"}
    assert not (children.tested & found["adults"].tested).any()


def test_figures_of_a_condition_are_those_of_its_trials_alone(trials, scores):
    figures = protection.measured(Ignorant(), scores, trials, "v", 30, 0.0).figures.figures
    pooled = {key for key in figures if key in {"EER", "min C_llr", "D_ECE", "D_sys", "MMR"}}
    for condition in conditions(trials):
        assert {f"{key} {condition.name}" for key in pooled} <= set(figures)
        own = eer(scores[condition.tested & trials.target],
                  scores[condition.tested & trials.nontarget])  # fmt: skip
        assert figures[f"EER {condition.name}"].value == pytest.approx(100 * own.value)
    # no errors of eight children: up to 32.4 % by Wilson
    assert figures["EER children"].high < 33.0 < 35.0 < figures["EER adults"].low


def test_a_group_of_three_has_no_figures_and_says_so():
    few = build([r for r in speech(14) if r.age == "40" or r.speaker in ("s00", "s02", "s04")])
    sizes = {condition.name: condition.size for condition in conditions(few)}
    assert sizes["children"].lacking == "too few speakers: 3, at least 4 are needed"
    assert "children" not in {condition.name for condition in measurable(few)}
    figures = protection.measured(Ignorant(), np.random.default_rng(0).standard_normal(
        few.tested.shape), few, "v", 9).figures.figures  # fmt: skip
    assert not any(key.endswith("children") for key in figures)


def test_unknown_ages_and_a_single_group_make_no_condition():
    same = build([Recording(f"s{s}-{u}", f"s{s}", Path("x"), "f") for s in range(5)
                  for u in range(3)])  # fmt: skip
    assert conditions(same) == ()


def test_lists_are_conditions_even_where_they_are_small(trials):
    rows = np.zeros(len(trials.models), dtype=bool)
    rows[:3:2] = True
    part = Part("mine", trials.tested & rows[:, None], 1.0)
    listed = Trials(trials.models, trials.recordings, trials.tested, parts=(part,))
    mine = conditions(listed)[-1]
    assert (mine.name, mine.size.kind, mine.size.speakers) == ("mine", "list", 2)
    assert not mine.size.lacking


def test_similarity_of_each_sex_is_of_its_own_matrices(trials):
    """Women and men differ by much, women among themselves not at all: pooled voices stand out."""
    rng = np.random.default_rng(0)
    sexes = np.array([r.sex == "f" for r in trials.recordings])
    noise = rng.standard_normal((len(sexes), 32))
    people = {r.speaker: rng.standard_normal(32) for r in trials.recordings}
    own = np.stack([people[r.speaker] for r in trials.recordings])
    original = 3.0 * own + noise
    published = 6.0 * np.where(sexes, 1.0, -1.0)[:, None] + noise
    _, figures = distinctiveness.measure(original, published, trials, 20)
    voices = distinctiveness.vectors(original, published, trials, 20)
    for sex, mask in (("f", sexes), ("m", ~sexes)):
        part = voices.part(np.flatnonzero(mask))
        assert set(part.similarity("aa").speakers) == {
            r.speaker for r in trials.recordings if r.sex == sex
        }
        gain = gain_of_voice_distinctiveness(part.similarity("oo"), part.similarity("aa"))
        assert figures[f"G_VD {sex}"].value == pytest.approx(gain.value)
        assert figures[f"M_aa others {sex}"].value > figures["M_aa others"].value + 0.1
        assert figures[f"DeID {sex}"].low is not None
    assert "G_VD f" not in distinctiveness.of_originals(original, trials, 20)


def test_words_of_a_group_are_counted_by_themselves():
    words = RecognisedWords(
        ["one two"] * 4, ["one two", "one", "one two", ""], list("abcd"), list("wxyz")
    )
    assert WORDS(words.part([1, 3])).value == pytest.approx(75.0)
    found = build(speech())
    names = [r.name for r in found.recordings]
    recognised = ["" if r.age == "9" else r.text for r in found.recordings]
    every = RecognisedWords(
        [r.text for r in found.recordings], recognised, names,
        [r.speaker for r in found.recordings],
        replicates=9,
    )  # fmt: skip
    figures = _words_by_condition(every, measurable(found))
    assert figures["WER children"].value == pytest.approx(100.0)
    assert figures["WER adults"].value == 0.0
    assert figures["WER f"].value == pytest.approx(50.0)


def test_a_part_of_speech_takes_over_what_is_known_of_each_recording():
    calls = []

    def loudness(original, changed, rate):
        calls.append(rate)
        return float(np.abs(changed).max())

    sound = [np.full(3, value) for value in (0.1, 0.2, 0.3)]
    pairs = SpeechPairs(sound, sound, 16_000, list("abc"), list("xyz"), [""] * 3, [1.0, 2.0, 3.0])
    assert pairs.each(loudness) == [0.1, 0.2, 0.3]
    part = pairs.part([2, 0])
    assert part.each(loudness) == [0.3, 0.1]
    assert (part.names, part.seconds, len(calls)) == (["c", "a"], [3.0, 1.0], 3)


def test_tables_mark_the_worst_condition_and_survive_a_round_trip(trials, scores, tmp_path):
    attack = protection.measured(Ignorant(), scores, trials, "v", 20).figures
    bare = protection.measured(Unprotected(), scores, trials, "v", 20).figures
    few = [c.size for c in conditions(build(speech(14)[:-6]))]
    sizes = (*(c.size for c in conditions(trials)), *(s for s in few if s.lacking))
    utility = {"WER": attack.figures["EER"], "WER f": attack.figures["EER children"],
               "WER m": attack.figures["EER adults"]}  # fmt: skip
    system = SystemResults("bent", "t", {}, "speaker", (attack,), utility)
    evaluation = Evaluation("0", "d", "data", 16, 96, (bare,), (system,), conditions=sizes)
    page = "".join(condition_tables.tables(evaluation))
    assert "bent by condition: speaker identity" in page
    rows = page.split("<tr>")
    marked = [row for row in rows if "<b>worst</b>" in row and 'row">children' in row]
    assert marked, "the children's equal error rate is the lowest"
    bent = page[: page.index("speech and voices")].split("<tr>")
    assert len(bent) == len(set(bent)), "the strongest is the ignorant attacker, who has one row"
    speech_table = page[page.index("speech and voices"):page.index("Original speech")]  # fmt: skip
    men = next(row for row in speech_table.split("<tr>") if 'row">men' in row)
    assert "<b>worst</b>" in men, "more errors of the recogniser are worse"
    results_file.save(evaluation, tmp_path)
    assert results_file.load(tmp_path) == evaluation


def test_ages_come_from_manifests_and_kaldi_tables(tmp_path):
    (tmp_path / "a.wav").write_bytes(b"x")
    (tmp_path / "manifest.tsv").write_text(
        "utterance\tpath\tspeaker\tage\tcorpus\nu1\ta.wav\tann\t11\tso\nu2\ta.wav\tbob\t\tso\n"
    )
    ann, bob = recordings(tmp_path)
    assert (ann.age_group, ann.corpus, bob.age_group) == ("children", "so", "")
    kaldi = tmp_path / "kaldi"
    kaldi.mkdir()
    for name, rows in {
        "wav.scp": f"u1 {tmp_path}/a.wav\nu2 {tmp_path}/a.wav\n", "utt2spk": "u1 ann\nu2 bob\n",
        "spk2age": "ann 18\nbob Youth\n",
    }.items():  # fmt: skip
        (kaldi / name).write_text(rows)
    assert [r.age_group for r in recordings(kaldi)] == ["adults", "youth"]
    assert Recording("u", "s", Path("x"), age="nan").age_group == ""
