"""Outputs of speakers, by the key."""

from __future__ import annotations

import json

import pytest

from voicenym.corpus.speaker_links import outputs_of
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key


def test_a_recording_is_no_output_folder(sample):
    with pytest.raises(CorpusError, match=r"sample\.wav: is no folder; give the output folder"):
        outputs_of(sample, Key.generate(), ["anna"])


def test_an_output_of_an_earlier_release_is_not_taken_for_nobodys(tmp_path):
    key = Key.generate()
    line = {"output": "a/1.wav", "sha256": "0", "key_check": key.tag("key check")[:16]}
    (tmp_path / "voicenym.jsonl").write_text(json.dumps(line))
    (tmp_path / "a").mkdir()
    (tmp_path / "a/1.wav").write_bytes(b"")
    links = outputs_of(tmp_path, key, ["anna"])
    assert (links.found, links.unknown) == ({"anna": []}, ["a/1.wav"])
