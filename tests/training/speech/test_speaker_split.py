"""Speaker splits: held-out speakers are not in the training."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.training.speech.speaker_split import MOST_HELD_OUT, speaker_split, verification_split

SPEECH = [Recording(f"{s}{i}", f"s{s}", Path("x")) for s in range(10) for i in range(4)]


def test_speakers_are_kept_out():
    learnt, out = speaker_split(SPEECH, 0.2, seed=1)
    assert {r.speaker for r in learnt}.isdisjoint({r.speaker for r in out})
    assert len({r.speaker for r in out}) == 2
    assert sorted([*learnt, *out]) == sorted(SPEECH)
    assert speaker_split(SPEECH[::-1], 0.2, seed=1) == (learnt, out)
    assert speaker_split(SPEECH, 0.2, seed=2)[1] != out


@pytest.mark.parametrize(("share", "left"), [(0.0, 9), (1.0, 1)])
def test_one_at_least_is_learnt_from_and_one_kept(share, left):
    learnt, _ = speaker_split(SPEECH, share, seed=0)
    assert len({r.speaker for r in learnt}) == left


def test_of_one_speaker_some_recordings_are_kept():
    learnt, out = speaker_split(SPEECH[:4], 0.25, seed=0)
    assert (len(learnt), len(out)) == (3, 1)
    with pytest.raises(CorpusError, match="1 songs are too few"):
        speaker_split(SPEECH[:1], 0.5, seed=0, what="songs")


def test_kept_out_are_whole_speakers(voices):
    learnt, kept = verification_split(voices, 0.3, 0)
    assert not {r.speaker for r in learnt} & {r.speaker for r in kept}
    assert len({r.speaker for r in kept}) == 4
    assert len(learnt) + len(kept) == len(voices)
    assert verification_split(voices, 0.3, 0) == (learnt, kept)


def test_too_few_speakers_are_refused(voices):
    with pytest.raises(CorpusError, match="too few"):
        verification_split(voices[:24], 0.1, 0)
    single = [r for r in voices if r.name.endswith("/0")]
    with pytest.raises(CorpusError, match="0 of them with two recordings"):
        verification_split(single, 0.1, 0)


def test_no_more_of_a_speaker_are_judged_than_need_be():
    many = [Recording(f"{s}/{i}", f"s{s}", Path("x")) for s in range(9) for i in range(30)]
    learnt, kept = verification_split(many, 0.3, 0)
    assert len(kept) == 4 * MOST_HELD_OUT
    assert len(learnt) == 5 * 30
