"""Files and folders of voices."""

import json

import pytest
import tiny_onnx

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration
from voicenym.nets.speech_synthesis.voice_files import copied, graph_file, opened, version

pytest.importorskip("onnxruntime")


@pytest.fixture
def voice(tmp_path):
    numbers = {"_": [0], "^": [1], "$": [2], "a": [5]}
    (tmp_path / "joe.onnx").write_bytes(tiny_onnx.reader())
    (tmp_path / "joe.onnx.json").write_text(
        json.dumps(
            {"audio": {"sample_rate": 16_000}, "phoneme_type": "text", "phoneme_id_map": numbers}
        )
    )
    return tmp_path


def test_a_file_and_its_folder_are_the_same_voice(voice):
    assert opened(voice / "joe.onnx") is opened(voice)
    assert version(voice) == version(voice / "joe.onnx")
    before = version(voice)
    (voice / "joe.onnx").write_bytes(tiny_onnx.reader() + tiny_onnx.number(5, 1))
    assert version(voice) != before


@pytest.mark.parametrize("name", ["text.txt", "joe.onnx.json"])
def test_a_file_of_another_kind_is_no_voice(name, voice):
    (voice / "text.txt").write_text("what is said")
    for read in (graph_file, opened, version):
        with pytest.raises(VoicenymError, match=rf"{name}: no voice there; give the ONNX file"):
            read(voice / name)


def test_folders_without_a_voice_or_with_two_are_refused(voice):
    with pytest.raises(VoicenymError, match="no voice there"):
        graph_file(voice / "nowhere")
    (voice / "other.onnx").write_bytes(b"")
    with pytest.raises(VoicenymError, match="holds several ONNX files"):
        graph_file(voice)


def test_a_copy_has_what_belongs_to_the_voice_and_its_digest(voice, tmp_path):
    told = copied(voice / "joe.onnx", tmp_path / "copy")
    assert told == "1 voice, 16000 Hz"
    assert len(configuration(tmp_path / "copy")["sha256"]) == 64
    assert opened(tmp_path / "copy").rate == 16_000


@pytest.mark.parametrize("name", ["joe.onnx", "joe.onnx.json", "config.json"])
def test_a_pulled_voice_that_was_changed_is_refused(name, voice, tmp_path):
    copied(voice / "joe.onnx", tmp_path / "copy")
    place = tmp_path / "copy" / name
    if name.endswith("json"):
        place.write_text(json.dumps({**json.loads(place.read_text()), "more": 1}))
    else:
        place.write_bytes(tiny_onnx.reader() + tiny_onnx.number(5, 1))
    with pytest.raises(VoicenymError, match="copy: not what was pulled or converted"):
        opened(tmp_path / "copy")
