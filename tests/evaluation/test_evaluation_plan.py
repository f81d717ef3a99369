"""Evaluation plan: sample for utility, and reproducible keys."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy")

from voicenym.corpus.recording import Recording
from voicenym.evaluation.evaluation_plan import Plan, key
from voicenym.evaluation.trial_plans.trials import Part, Trials, build


def trials(text="", parts=True):
    """Two corpora of four speakers, which are parts if so wished."""
    test = build(
        [Recording(f"{c}{s}-{u}", f"{c}{s}", Path("x"), "f", text if u % 2 else "")
         for c in "lp" for s in range(4) for u in range(6)]
    )  # fmt: skip
    if not parts:
        return test
    columns = np.array([r.name[0] for r in test.recordings])
    rows = np.array([m.name[0] for m in test.models])
    masks = [(rows[:, None] == c) & (columns == c) for c in "lp"]
    made = tuple(Part(c, mask, 0.5) for c, mask in zip("lp", masks, strict=True))
    return Trials(test.models, test.recordings, masks[0] | masks[1], (), made, made)


def test_the_sample_for_utility_holds_something_of_every_part():
    chosen = Plan("x", trials(), sample=4).sampled()
    assert sorted(r.name[0] for r in chosen) == ["l", "l", "p", "p"]
    assert len({r.speaker for r in chosen}) == 4


@pytest.mark.parametrize("parts", [True, False])
def test_what_has_a_text_is_sampled_where_there_is_any(parts):
    test = trials("word", parts)
    chosen = Plan("x", test, sample=4).sampled()
    assert len(chosen) == 4
    assert any(not r.text for r in test.recordings)
    assert all(r.text for r in chosen)


def test_keys_differ_by_seed_and_by_whose_they_are():
    assert key(1, "user") == key(1, "user")
    assert len({repr(key(s, w).pseudonym("a").uniform("x", 0.0, 1.0))
                for s in (0, 1) for w in ("user", "attacker")}) == 4  # fmt: skip
