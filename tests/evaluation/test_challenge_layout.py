"""The challenge's layout of any corpus: its lists fit its folders, and every pair is tried."""

from __future__ import annotations

import runpy
from pathlib import Path

from voicenym.corpus.recordings import recordings
from voicenym.evaluation.trial_plans.trial_lists import find_lists
from voicenym.evaluation.trial_plans.voiceprivacy import from_voiceprivacy

SCRIPT = Path(__file__).parents[2] / "benchmarks/studies/corpora/challenge_layout.py"


def test_lists_of_a_small_layout_hold_every_pair_within_a_sex(corpus, tmp_path):
    write = runpy.run_path(str(SCRIPT))["write_set"]
    data = tmp_path / "data"
    speakers = sorted({recording.speaker for recording in corpus})
    speech = {s: [r for r in corpus if r.speaker == s][:4] for s in speakers}
    counted = {}
    for name, chosen in (("libri_dev", speakers[:3]), ("vctk_test", speakers[3:])):
        counted[name] = write(data, name, {s: speech[s] for s in chosen}, 2)
    found = find_lists(data)
    trials = from_voiceprivacy(found.enrolment, found.trials, recordings(data))
    assert trials.tested.sum() == sum(counted.values())
    assert {part.group for part in trials.parts} == {"dev", "test"}
    sexes = {s: own[0].sex for s, own in speech.items()}
    for chosen in (speakers[:3], speakers[3:]):
        pairs = sum(sexes[a] == sexes[b] for a in chosen for b in chosen)
        assert 2 * pairs in counted.values()
    names = {model.speaker for model in trials.models}
    assert names == set(speakers), "all are enrolled"
