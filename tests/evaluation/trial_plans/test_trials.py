from collections import Counter
from pathlib import Path

import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.evaluation.trial_plans.trials import build


def corpus(speakers=10, utterances=14, sexes="fm"):
    return [
        Recording(f"s{s:02}-{u:02}", f"s{s:02}", Path("none"), sexes[s % len(sexes)])
        for s in range(speakers)
        for u in range(utterances)
    ]


def test_enrolment_and_trials_share_nothing_and_are_balanced():
    trials = build(corpus())
    enrolled = {r for m in trials.models for r in m.recordings}
    assert not enrolled & set(trials.recordings)
    assert all(len(m.recordings) == 8 for m in trials.models)
    assert set(Counter(r.speaker for r in trials.recordings).values()) == {6}
    assert trials.tested.shape == (10, 60)


def test_only_voices_of_one_sex_are_compared():
    trials = build(corpus())
    assert trials.target.sum() == 60
    assert trials.nontarget.sum() == 10 * 4 * 6
    everybody = build(corpus(), same_sex=False)
    assert everybody.nontarget.sum() == 10 * 9 * 6
    unknown = build(corpus(sexes=[""]))
    assert unknown.nontarget.sum() == 10 * 9 * 6
    assert any("sex of 10 of 10 speakers is unknown" in w for w in unknown.warnings)


def test_the_draw_depends_on_the_seed_and_not_on_the_order():
    first = build(corpus(), seed=1)
    again = build(corpus()[::-1], seed=1)
    other = build(corpus(), seed=2)
    assert first.models == again.models
    assert set(first.recordings) == set(again.recordings)
    assert set(first.recordings) != set(other.recordings)


def test_speakers_with_few_utterances_keep_some_for_each_purpose():
    trials = build(corpus(utterances=2))
    assert all(len(m.recordings) == 1 for m in trials.models)
    assert len(trials.recordings) == 10


def test_few_speakers_are_warned_of():
    assert any("only 5 speakers" in w for w in build(corpus()).warnings)
    assert not build(corpus(speakers=60)).warnings


def test_speakers_that_are_left_out_are_not_counted_among_the_compared():
    trials = build(corpus(speakers=40))
    assert not trials.warnings
    gone = {r.name for r in corpus(speakers=40) if r.speaker < "s10"}  # five of each sex
    (warning,) = trials.without(gone, gone).warnings
    assert "only 15 speakers" in warning
    gone = {r.name for r in corpus(speakers=40) if r.speaker < "s33"}
    (warning,) = trials.without(gone, gone).warnings
    assert "only 3 speakers" in warning
    assert "no interval with so few" in warning


def test_what_cannot_be_a_test_says_what_to_do():
    with pytest.raises(CorpusError, match=r"one speaker only: .* add recordings of others"):
        build(corpus(speakers=1))
    with pytest.raises(CorpusError, match="one utterance each"):
        build(corpus(utterances=1))
    with pytest.raises(CorpusError, match=r"only one speaker of a sex.*--any-sex"):
        build(corpus(speakers=3))
    everybody = build(corpus(speakers=3), same_sex=False)  # the cure
    assert everybody.nontarget.sum() == 3 * 2 * 6
    assert any("only 3 speakers" in warning for warning in everybody.warnings)


def test_a_speaker_with_a_single_utterance_is_left_out_and_reported():
    lonely = Recording("lonely-0", "lonely", Path("none"), "f")
    trials = build([*corpus(), lonely])
    assert "lonely" not in {m.speaker for m in trials.models}
    assert any("1 speaker with a single utterance" in w for w in trials.warnings)
