"""Speakers who are judged by are not learnt from."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.training.apart import apart

SPEECH = [Recording(f"{s}{i}", f"s{s}", Path("x")) for s in range(10) for i in range(4)]


def test_speakers_are_kept_out():
    learnt, out = apart(SPEECH, 0.2, seed=1)
    assert {r.speaker for r in learnt}.isdisjoint({r.speaker for r in out})
    assert len({r.speaker for r in out}) == 2
    assert sorted([*learnt, *out]) == sorted(SPEECH)
    assert apart(SPEECH[::-1], 0.2, seed=1) == (learnt, out)
    assert apart(SPEECH, 0.2, seed=2)[1] != out


@pytest.mark.parametrize(("share", "left"), [(0.0, 9), (1.0, 1)])
def test_one_at_least_is_learnt_from_and_one_kept(share, left):
    learnt, _ = apart(SPEECH, share, seed=0)
    assert len({r.speaker for r in learnt}) == left


def test_of_one_speaker_some_recordings_are_kept():
    learnt, out = apart(SPEECH[:4], 0.25, seed=0)
    assert (len(learnt), len(out)) == (3, 1)
    with pytest.raises(CorpusError, match="1 songs are too few"):
        apart(SPEECH[:1], 0.5, seed=0, what="songs")
