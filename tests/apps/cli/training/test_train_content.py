"""``voicenym train units``, ``content``, ``bottleneck``: from a folder of speakers to content."""

from __future__ import annotations

import json

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("sklearn")
pytest.importorskip("jiwer")
pytest.importorskip("safetensors")

from safetensors.torch import save_file

from voicenym.apps.cli import app
from voicenym.nets.content.content_encoders import load
from voicenym.nets.content.hubert import HubertSoft
from voicenym.nets.content.units import Units

TINY = """
options: {width: 64, heads: 1, inner: 16, channels: 8, kernel: 4, groups: 4}
size: 6
layers: 1
seconds: 0.4
batch: 2
every: 2
"""
BOTTLENECK = """
options: {size: 8, bands: 10, width: 12, narrow: 4, strides: [1, 3]}
batch: 2
every: 2
"""
HERTZ = {"a": 400.0, "b": 900.0, " ": 0.0}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Speakers who say letters as tones."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(TINY)
    (folder / "narrow.yaml").write_text(BOTTLENECK)
    time = np.arange(4_000) / 16_000
    for speaker in "pqrstu":
        for i, text in enumerate(("ab b", "ba a")):
            place = folder / "speech" / speaker
            place.mkdir(parents=True, exist_ok=True)
            signal = np.concatenate([0.2 * np.sin(2 * np.pi * HERTZ[c] * time) for c in text])
            noise = np.random.default_rng(i).standard_normal(len(signal))
            soundfile.write(place / f"{speaker}{i}.wav", signal + 0.01 * noise, 16_000)
            (place / f"{speaker}{i}.txt").write_text(text)
    return folder


@pytest.fixture
def run(corpus, monkeypatch):
    """A command within this process: libraries that train take seconds to be imported."""
    monkeypatch.chdir(corpus)
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.training.speech.preparation.cores", lambda: 1)

    def invoke(*arguments: object):
        given = ["train", *map(str, arguments), "--data", "speech", "--accelerator", "cpu"]
        return CliRunner().invoke(app, given)

    return invoke


def test_units_of_cepstra_and_a_content_encoder_of_them(run, corpus):
    done = run("units", "-o", "units", "--units", 4, "--shelf", "cache")
    assert done.exit_code == 0, done.output
    assert "4 units of 600 frames" in done.output
    assert Units.load(corpus / "units").source == {"features": "cepstra"}
    card = json.loads((corpus / "units" / "config.json").read_text())["card"]
    assert card["recordings"] == 12
    content = ("content", "-c", "./tiny.yaml", "--units", "units", "-o", "soft", "--shelf", "cache")
    done = run(*content, "--steps", 2)
    assert done.exit_code == 0, done.output
    network = load(corpus / "soft")
    assert network.config()["layers"] == 1
    assert network.extract(torch.zeros(6_400)).shape == (20, 6)
    again = run(*content, "--steps", 4)
    assert again.exit_code == 0, again.output
    assert "4 steps" in again.output
    onward = run(
        "content", "-c", "./tiny.yaml", "--units", "units", "-o", "onward", "--shelf", "cache",
        "--from", "./soft", "--steps", 2,
    )  # fmt: skip
    assert onward.exit_code == 0, onward.output


def test_units_of_a_layer_of_hubert(run, corpus):
    torch.manual_seed(0)
    state = HubertSoft(6, 5, 3, 64, 1, 16, 8, 4, 4).state_dict()
    torch.save(state, corpus / "hubert.pt")
    refused = run("units", "-o", "none", "--features", "./hubert.pt")
    command = "voicenym models convert ./hubert.pt --as hubert -o FOLDER"
    assert command in str(refused.exception)
    save_file(state, corpus / "hubert.safetensors")
    units = ("units", "-o", "of-hubert", "--units", 3, "--features", "./hubert.safetensors")
    done = run(*units, "--layer", 2, "--budget", "1h")
    assert done.exit_code == 0, done.output
    assert Units.load(corpus / "of-hubert").source["layer"] == 2
    content = ("content", "-c", "./tiny.yaml", "--units", "of-hubert", "--steps", 2)
    done = run(*content, "-o", "student", "--from", "./hubert.safetensors")
    assert done.exit_code == 0, done.output
    student = load(corpus / "student").state_dict()
    name = "feature_extractor.conv0.weight"
    torch.testing.assert_close(student[name], state[name], atol=1e-3, rtol=0)
    done = run(*content, "-o", "other")
    assert "give that by --features or --from" in str(done.exception)
    done = run(*content, "-o", "other", "--features", "cepstra")
    assert "of other features" in str(done.exception)
    done = run(*units, "--layer", 4)
    assert "no layer 4: there are 3; give another --layer" in str(done.exception)


def test_a_bottleneck_and_its_recogniser(run, corpus):
    narrow = ("bottleneck", "-c", "./narrow.yaml", "--shelf", "cache", "--adversary", 0.2)
    done = run(*narrow, "-o", "bn", "--steps", 2)
    assert done.exit_code == 0, done.output
    network = load(corpus / "bn")
    assert (network.kind, network.size) == ("tdnnf", 8)
    card = json.loads((corpus / "bn" / "config.json").read_text())["card"]
    assert card["weight of the branch that hides the speaker"] == 0.2
    onward = run(*narrow, "-o", "bn2", "--steps", 2, "--from", "bn/recogniser")
    assert onward.exit_code == 0, onward.output
