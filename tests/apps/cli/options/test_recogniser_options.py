"""Options of recognisers and transcripts: recognisers by name, and texts by system."""

from __future__ import annotations

import pytest

from voicenym.apps.cli.options.recogniser_options import (
    named,
    phones_of,
    recogniser_of,
    retrained_of,
    transcripts_of,
)
from voicenym.errors import VoicenymError


def test_transcripts_by_system(tmp_path):
    path = tmp_path / "text"
    path.write_text("a/0 one two\na/1 three\n")
    found = transcripts_of([f"vtln={path}"], ["vtln", "original"])
    assert list(found) == ["vtln"]
    assert transcripts_of([], ["vtln"]) == {}


@pytest.mark.parametrize("given", ["vtln", "vtln=", "mcadams=text", "=text"])
def test_unknown_systems_are_refused(given):
    with pytest.raises(VoicenymError, match="SYSTEM=FILE, SYSTEM being one of vtln, original"):
        transcripts_of([given], ["vtln", "original"])
    with pytest.raises(VoicenymError, match="SYSTEM=FOLDER, SYSTEM being one of vtln"):
        retrained_of([given], ["vtln"])


def test_no_recogniser_without_sentences():
    assert recogniser_of("none", None, ["one"]) is None
    assert recogniser_of(None, None, []) is None
    with pytest.raises(VoicenymError, match="no recording has a text"):
        recogniser_of("sphinx", None, [])


def test_whisper_is_the_default_with_weights(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    import tiny_whisper as tiny

    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "none"))
    assert recogniser_of(None, None, ["one"]) is None
    assert phones_of("none") is None
    assert named(None, phones_of("small")) == ", phones by phones-small, phones alone"
    folder = tiny.write(tiny.network(), tmp_path / "whisper")
    found = recogniser_of(None, str(folder), ["one"], tmp_path / "transcripts.jsonl")
    assert found.name == "whisper"
    assert named(found, None) == ", words by whisper"
    assert named(None, None) == ""


def test_sphinx_does_not_know_the_sentences():
    """A choice among the sentences of the test hides losses."""
    pytest.importorskip("pocketsphinx")
    assert recogniser_of("sphinx", None, ["please call stella"]).name == "pocketsphinx"
