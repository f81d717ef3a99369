"""Each system of the registry on a bare install: it speaks, and words are found in it, or it names
the command that makes its weights.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from voicenym.anonymizer.registry import SYSTEMS
from voicenym.nets.weights.weights_home import VARIABLE

pytestmark = pytest.mark.slow
SILENT = {"asr-tts": "voicenym models pull"}
"""Systems whose weights do not come along, and what their error prescribes."""
EXTRAS = {
    "aiortc", "c2pa", "ctranslate2", "fastapi", "faster_whisper", "fsspec", "huggingface_hub",
    "jiwer", "lhotse", "librosa", "lightning", "matplotlib", "onnxruntime", "parselmouth",
    "pocketsphinx", "presidio_analyzer", "pyarrow", "pyworld", "ray", "resemblyzer", "scipy",
    "sklearn", "sounddevice", "speechmos", "tensorboard", "transformers", "uvicorn", "yaml",
}  # fmt: skip
"""Libraries of the extras, which the program does not find."""
PROGRAM = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import torch

import voicenym
from voicenym import Key
from voicenym.anonymizer.registry import SYSTEMS
from voicenym.errors import VoicenymError
from voicenym.resynthesis.pipeline import assembly, conditioning

whole = voicenym.read(sys.argv[1])
speech = voicenym.Audio(whole.samples[: 3 * whole.rate], whole.rate)
parts = assembly.opened(assembly.BUNDLED / "ssl")
words = conditioning.whole_content(parts, speech.samples.reshape(-1))

def likeness(one, other):
    return float(torch.nn.functional.cosine_similarity(one, other, dim=1).mean())

found = {"": likeness(words, words.roll(7, 0))}
for name in SYSTEMS.names():
    settings = {"timing": "kept"} if name == "word-codes" else {}
    try:
        system = voicenym.load(name, **settings)
        system.check()
        made = system(speech, Key(bytes(32)).pseudonym("anna"))
    except VoicenymError as error:
        found[name] = str(error)
        continue
    assert made.samples.shape == speech.samples.shape
    assert not torch.equal(made.samples, speech.samples)
    heard = conditioning.whole_content(parts, made.samples.reshape(-1))
    found[name] = likeness(words, heard)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def spoken(sample, tmp_path_factory):
    """By system, the mean cosine of word codes of original and output, or its error; under the
    empty name that of other words.
    """
    home = tmp_path_factory.mktemp("home")
    program = PROGRAM.replace("EXTRAS", repr(EXTRAS))
    done = subprocess.run(
        [sys.executable, "-c", program, str(sample)],
        capture_output=True,
        text=True,
        env={**os.environ, VARIABLE: str(home / "none"), "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_system_is_there(spoken):
    assert spoken.keys() == {"", *SYSTEMS.names()}
    assert {name for name, result in spoken.items() if isinstance(result, str)} == SILENT.keys()


@pytest.mark.parametrize("name", SYSTEMS.names())
def test_a_system_speaks_or_names_the_command(name, spoken):
    if name in SILENT:
        assert SILENT[name] in spoken[name]
        assert "\n" not in spoken[name]
    else:
        assert spoken[name] > spoken[""] + 0.2, f"of other words: {spoken['']:.2f}"
