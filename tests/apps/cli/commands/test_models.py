"""``voicenym models``: lists, pulls and converts weights, without a network."""

from __future__ import annotations

import json

import pytest
import torch
from typer.testing import CliRunner

pytest.importorskip("safetensors")
pytest.importorskip("huggingface_hub")

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.nets import hub
from voicenym.nets.catalogue import CATALOGUE
from voicenym.nets.speakers.speaker_encoders import load, make
from voicenym.nets.weights.weights_home import VARIABLE
from voicenym.verification.verifiers import verifier

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@pytest.fixture
def net(tmp_path, monkeypatch):
    """A hub that has small weights of one encoder, and of nothing else."""
    torch.manual_seed(0)
    folder = tmp_path / "cache"
    folder.mkdir()
    torch.save(make("ecapa", SMALL).state_dict(), folder / "embedding_model.ckpt")

    def fetch(repository, file, offline):
        path = folder / file
        if not path.exists() or "ecapa" not in repository:
            raise ConnectionError("no route to host")
        return str(path)

    monkeypatch.setattr(hub, "_from_hub", fetch)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv(hub.OFFLINE, raising=False)
    return folder


def run(*arguments):
    return CliRunner().invoke(app, ["models", *map(str, arguments)])


def test_they_are_listed_with_their_terms(net):
    shown = run("list")
    assert shown.exit_code == 0, shown.output
    for published in CATALOGUE:
        assert published.name in shown.output
    assert "not commercial" in shown.output
    rows = json.loads(run("list", "--json").output)
    assert {row["name"]: row["here"] for row in rows}["ecapa-voxceleb"] is False
    assert run("pull", "ecapa-voxceleb").exit_code == 0
    rows = json.loads(run("list", "--json").output)
    assert [row["name"] for row in rows if row["here"]] == ["ecapa-voxceleb"]


def test_what_was_pulled_is_a_verifier_and_converts(net, tmp_path):
    done = run("pull", "ecapa-voxceleb")
    assert done.exit_code == 0, done.output
    assert "Apache-2.0" in done.output
    assert str(hub.store() / "ecapa-voxceleb") in done.output
    assert verifier("ecapa:ecapa-voxceleb").name
    done = run("convert", "ecapa-voxceleb", "--as", "ecapa", "-o", tmp_path / "ours")
    assert done.exit_code == 0, done.output
    assert "vectors of 12 numbers" in done.output
    assert load(tmp_path / "ours").size == 12
    (net / "embedding_model.ckpt").write_bytes(b"damaged")
    assert verifier("ecapa:ecapa-voxceleb").name  # it needs no checkpoint any more
    (hub.store() / "ecapa-voxceleb" / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(VoicenymError, match=r"model\.safetensors: damaged"):
        load(hub.store() / "ecapa-voxceleb")


def test_a_licence_is_shown_and_asked_for(net):
    done = run("pull", "mms-300m")
    assert done.exit_code != 0
    assert "CC BY-NC 4.0, not for commercial use" in done.output
    assert "--accept-licence" in str(done.exception)
    done = run("pull", "mms-300m", "--accept-licence")
    assert "no route to host" in str(done.exception)


def test_a_missing_network_is_reported(net):
    done = run("pull", "hubert-base")
    assert done.exit_code != 0
    assert "no route to host" in str(done.exception)
    assert "Without a network there work" in str(done.exception)
    done = run("pull", "hubert-base", "--offline")
    assert "this is offline" in str(done.exception)


def test_the_encoder_that_measures_is_written(tmp_path):
    done = run("formants", "-o", tmp_path / "speaker", "--count", "3")
    assert done.exit_code == 0, done.output
    assert "formant-pitch, 4 frequencies in Hz" in done.output
    encoder = load(tmp_path / "speaker")
    assert encoder.hertz
    assert encoder.config() == {"formants": 3}
    assert run("formants", "-o", tmp_path / "other", "--count", "6").exit_code == 2


@pytest.mark.parametrize(
    "words", [("formants",), ("word-codes",), ("convert", "x", "--as", "ecapa")]
)
def test_weights_are_not_written_into_a_corpus(tmp_path, words):
    (tmp_path / "corpus" / "anna").mkdir(parents=True)
    done = run(*words, "-o", tmp_path / "corpus")
    assert isinstance(done.exception, VoicenymError)
    assert "corpus: holds other files than weights; name a new folder" in str(done.exception)
    assert [path.name for path in (tmp_path / "corpus").iterdir()] == ["anna"]
    (tmp_path / "empty").mkdir()
    if words == ("formants",):  # an empty folder, and one of weights
        assert run(*words, "-o", tmp_path / "empty").exit_code == 0
        assert run(*words, "-o", tmp_path / "empty").exit_code == 0
