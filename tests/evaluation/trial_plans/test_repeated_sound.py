"""The same sound under two names is told, whoever is said to speak in it."""

import dataclasses
import shutil

from voicenym.evaluation.trial_plans.repeated_sound import repeated
from voicenym.evaluation.trial_plans.trials import build


def test_copies_in_enrolment_trials_and_pool_are_told(corpus, tmp_path):
    trials = build(corpus[:16], enrolment=2, trials=2, same_sex=False)
    pool = list(corpus[16:])
    assert repeated(trials, pool) == ()

    enrolled, tried = trials.models[1].recordings[0], trials.recordings[0]
    copy = tmp_path / "copy.wav"
    shutil.copy(enrolled.path, copy)
    other = dataclasses.replace(tried, path=copy)
    again = dataclasses.replace(trials, recordings=(other, *trials.recordings[1:]))
    assert repeated(again, pool) == (
        f"1 of {len(again.recordings)} trials are the same sound as an enrolled recording "
        f"({tried.name} and {enrolled.name}): attackers recognise the recording there, not the "
        "voice; leave one of each two out",
    )
    untested = again.tested.copy()
    untested[1, 0] = False
    assert repeated(dataclasses.replace(again, tested=untested), pool) == (), "nobody compares them"

    learned = [*pool, dataclasses.replace(pool[0], name="copy", path=trials.recordings[3].path)]
    (sentence,) = repeated(trials, learned)
    assert sentence.startswith(f"1 of {len(learned)} recordings that attackers learn from")
    assert f"(copy and {trials.recordings[3].name})" in sentence
    part = [dataclasses.replace(learned[-1], end=0.5)]
    assert repeated(trials, part) == (), "a part of a file is another sound"


def test_a_recording_in_both_lists_has_one_name(corpus):
    trials = build(corpus[:16], enrolment=2, trials=2, same_sex=False)
    both = trials.models[0].recordings[1]
    again = dataclasses.replace(trials, recordings=(both, *trials.recordings[1:]))
    (sentence,) = repeated(again)
    assert f"({both.name})" in sentence
