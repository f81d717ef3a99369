"""Recogniser interface, and its checks of input."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from voicenym import recognition
from voicenym.errors import AudioError, DependencyError, VoicenymError
from voicenym.recognition.interface import checked


def test_importing_the_room_imports_no_heavy_library():
    code = (
        "import sys, voicenym.recognition as r; r.available(); "
        "print([m for m in ('torch', 'transformers', 'pocketsphinx', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(VoicenymError, match="'kaldi'; there are: ctc, hybrid, sphinx"):
        recognition.recogniser("kaldi")


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("sphinx", "pocketsphinx", "evaluate"),
        ("wav2vec2", "transformers", "recognisers"),
    ],
)
def test_a_missing_library_names_the_extra(monkeypatch, name, library, extra):
    for module in ("sphinx_processes.sphinx", "published_recogniser"):
        monkeypatch.setattr(f"voicenym.recognition.{module}.find_spec", lambda _: None)
    monkeypatch.setattr("voicenym.registry.names.find_spec", lambda _: None)
    assert recognition.available() == []
    with pytest.raises(DependencyError, match=rf"{library} .*pip install voicenym\[{extra}\]"):
        recognition.recogniser(name)


def test_the_face_of_the_room_is_there():
    for name in recognition.__all__:
        assert getattr(recognition, name)
    with pytest.raises(AttributeError, match="no attribute 'ears'"):
        recognition.ears  # noqa: B018


@pytest.mark.parametrize(
    "bad", [np.zeros((2, 10), np.float32), np.zeros(10, np.int16), np.array([0.0, np.nan])]
)
def test_what_is_no_recording_is_refused_with_its_place(bad):
    with pytest.raises(AudioError, match="recording 3: "):
        checked(bad, 3)


def test_double_precision_is_taken():
    assert checked(np.zeros(3), 0).dtype == np.float32


def taps(count):
    """Bursts with pauses between them."""
    burst = np.concatenate([np.full(3200, 0.5, np.float32), np.zeros(3200, np.float32)])
    return np.tile(burst, count)


def test_a_package_adds_a_recogniser_as_ours_are(plugged):
    assert "tapping" in recognition.RECOGNISERS
    assert "tapping" in recognition.available()
    assert "whispered_voice.tapping" not in sys.modules, "names alone import nothing"
    with recognition.recogniser("tapping:level=0.4") as found:
        assert found.name == "tapping at 0.4"
        assert found.transcribe([taps(3), taps(0)]) == ["tap tap tap", ""]
    with pytest.raises(AudioError, match="recording 0: "):
        recognition.recogniser("tapping").transcribe([np.zeros((2, 10), np.float32)])


def test_errors_name_another_packages_recogniser(plugged):
    with pytest.raises(VoicenymError, match=r"no recogniser 'taping' \(did you mean tapping"):
        recognition.recogniser("taping")
    with pytest.raises(VoicenymError, match="no parameter size; it has: level"):
        recognition.recogniser("tapping:size=4")


def test_what_is_no_recogniser_is_refused(plugged, monkeypatch):
    import whispered_voice.tapping as module

    monkeypatch.setattr(module, "Tapping", lambda: object())
    with pytest.raises(VoicenymError, match="its attribute name is missing"):
        recognition.recogniser("tapping")
