"""Preparation of speech: disjoint speakers, the data's card, the cache of both parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError, VoicenymError
from voicenym.training.run.progress_report import Report
from voicenym.training.speech.preparation import (
    check_disjoint,
    data_card,
    hours,
    prepared,
    progress,
    rendering,
)


def speech(*speakers):
    return [Recording(f"{s}/{i}", s, Path("x")) for s in speakers for i in range(2)]


@pytest.fixture
def tones(tmp_path):
    """Three recordings of three speakers, of 4,000, 8,000 and 12,000 samples."""
    made = []
    for i in range(3):
        path = tmp_path / f"{i}.wav"
        soundfile.write(path, np.full(4_000 * (i + 1), 0.1), 16_000)
        made.append(Recording(str(i), f"s{i}", path))
    return made


def test_speakers_of_the_test_are_others():
    check_disjoint(speech("a", "b"), speech("c"))
    check_disjoint(speech("a"), [])
    with pytest.raises(CorpusError, match=r"speaker b is both .* \(2 such\)"):
        check_disjoint(speech("a", "b", "c"), speech("c", "b"))


@pytest.mark.parametrize(
    ("split", "corpora", "text"),
    [
        (None, [], "speech, more"),
        ("train", [], "speech train, more train"),
        ("train", ["one", "two"], "speech train one two, more train one two"),
    ],
)
def test_a_card_names_the_training_data(split, corpora, text):
    found = data_card(speech("a", "b"), [Path("/data/speech"), Path("more")], split, corpora)
    assert found == {"data": text, "speakers": 2, "recordings": 4}


def test_a_system_is_rendered_with_its_settings(tones, tmp_path):
    plain = rendering("mcadams", "speaker", tmp_path)
    weak = rendering("mcadams:low=0.95,high=0.97", "speaker", tmp_path)
    assert plain.identity(tones[0]) != weak.identity(tones[0]), "one cache would hold both"
    (own,) = weak.steps
    assert (own.system, own.parameters) == ("mcadams", (("high", 0.97), ("low", 0.95)))
    with pytest.raises(VoicenymError, match="lowest"):
        rendering("mcadams:lowest=1", "speaker", tmp_path)
    with pytest.raises(VoicenymError, match="a whole recording comes out as without it"):
        rendering("recast:delay=short", "speaker", tmp_path)


def test_both_parts_are_prepared(tones, tmp_path):
    train, held_out = prepared(tmp_path / "cache", tones[:2], tones[2:], Report())
    assert [u.length for u in train] == [4_000, 8_000]
    assert [u.length for u in held_out] == [12_000]
    assert train[1].recording == tones[1]
    assert hours(train * 48) == 0.01


def test_a_recording_that_is_in_both_parts_is_prepared_for_both(tones, tmp_path):
    """Objects do not say which part an utterance belongs to; places in the list do."""
    train, held_out = prepared(tmp_path / "cache", tones, tones[1:], Report())
    assert [u.length for u in train] == [4_000, 8_000, 12_000]
    assert [u.length for u in held_out] == [8_000, 12_000]


def test_recordings_that_fail_are_left_out_of_their_part(tones, tmp_path):
    broken = Recording("broken", "s9", tmp_path / "missing.wav")
    skipped = LeftOut()
    train, held_out = prepared(
        tmp_path / "cache", [broken, tones[0]], tones[1:], Report(skipped=skipped)
    )
    assert [u.length for u in train] == [4_000]
    assert [u.length for u in held_out] == [8_000, 12_000]
    assert len(skipped) == 1
    with pytest.raises(CorpusError, match="of 1 recordings to hold out none can be used"):
        prepared(tmp_path / "cache", tones, [broken], Report(skipped=LeftOut()))


def test_progress_is_reported_now_and_then():
    lines: list[str] = []
    add = progress(1_200, "prepared", lines.append)
    for more in (499, 2, 600, 99):
        add(more)
    assert lines == ["501 of 1200 recordings prepared", "1101 of 1200 recordings prepared"]
