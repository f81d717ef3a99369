"""What commands that train share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym.apps.cli import train as shared
from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError, VoicenymError

pytest.importorskip("lightning")


def speech(*speakers):
    return [Recording(f"{s}/{i}", s, Path("x")) for s in speakers for i in range(2)]


def test_nobody_is_judged_whom_was_learnt_from():
    shared.others(speech("a", "b"), speech("c"))
    shared.others(speech("a"), [])
    with pytest.raises(CorpusError, match=r"speaker b is both .* \(2 such\)"):
        shared.others(speech("a", "b", "c"), speech("c", "b"))


@pytest.mark.parametrize(
    ("split", "corpora", "told"),
    [
        (None, [], "speech, more"),
        ("train", [], "speech train, more train"),
        ("train", ["one", "two"], "speech train one two, more train one two"),
    ],
)
def test_a_card_says_what_was_learnt_from(split, corpora, told):
    found = shared.learnt_from(
        speech("a", "b"), [Path("/data/speech"), Path("more")], split, corpora
    )
    assert found == {"data": told, "speakers": 2, "recordings": 4}


def test_means_are_named_as_recipes_name_them(capsys):
    found = shared.means("2m", False, "cpu", 2, "32-true", 3)
    assert found["seconds"] == 120.0
    machine = found["machine"]
    assert (machine.accelerator, machine.devices, machine.workers) == ("cpu", 2, 3)
    found["say"]("hello")
    shared.means(None, True)["say"]("nothing")
    assert capsys.readouterr().err == "hello\n"
    with pytest.raises(VoicenymError, match="--budget soon"):
        shared.means("soon", False)
    with pytest.raises(VoicenymError, match="auto, cpu or gpu"):
        shared.means(None, False, "tpu")


def test_what_is_kept_out_is_prepared_with_the_rest(tmp_path):
    recordings = []
    for i in range(3):
        path = tmp_path / f"{i}.wav"
        soundfile.write(path, np.full(4_000 * (i + 1), 0.1), 16_000)
        recordings.append(Recording(str(i), f"s{i}", path))
    learnt, kept = shared.prepared(
        tmp_path / "shelf", recordings[:2], recordings[2:], lambda text: None
    )
    assert [u.length for u in learnt] == [4_000, 8_000]
    assert [u.length for u in kept] == [12_000]
    assert learnt[1].recording == recordings[1]


def test_a_recording_that_is_in_both_parts_is_prepared_for_both(tmp_path):
    """Objects do not say which part an utterance belongs to; places in the list do."""
    recordings = []
    for i in range(2):
        path = tmp_path / f"{i}.wav"
        soundfile.write(path, np.full(4_000 * (i + 1), 0.1), 16_000)
        recordings.append(Recording(str(i), f"s{i}", path))
    learnt, kept = shared.prepared(
        tmp_path / "shelf", recordings, recordings[1:], lambda text: None
    )
    assert [u.length for u in learnt] == [4_000, 8_000]
    assert [u.length for u in kept] == [8_000]
