"""Outputs of speakers, by the key."""

from __future__ import annotations

import json
import unicodedata

import pytest

from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.speaker_links import names_in, outputs_of
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


@pytest.mark.parametrize("renamed", [False, True])
def test_a_name_is_found_however_its_accents_are_written(tmp_path, renamed):
    """A folder that came from another system has NFD, a list of names that was typed has NFC."""
    composed, decomposed = (unicodedata.normalize(form, "Zoë") for form in ("NFC", "NFD"))
    assert composed != decomposed
    key = Key.generate()
    output = f"{Names(key).speaker(decomposed) if renamed else decomposed}/1.wav"
    tag = speaker_rule.voice_check(key, decomposed, output)
    line = {
        "output": output, "sha256": "0", "key_check": key.tag("key check")[:16],
        "speaker_check": tag, "speaker_rule": 2,
    }  # fmt: skip
    (tmp_path / "voicenym.jsonl").write_text(json.dumps(line))
    assert outputs_of(tmp_path, key, [composed, "ann"]).found == {composed: [output], "ann": []}
    both = {composed: [], decomposed: [output]}
    assert outputs_of(tmp_path, key, [composed, decomposed]).found == both


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    (tmp_path / "names.txt").write_bytes("anna\r\nbob\r\n".encode("utf-8-sig"))
    assert list(names_in(tmp_path / "names.txt")) == ["anna", "bob"]
