"""A bare name never refers to the current folder; a path has a separator."""

from __future__ import annotations

from pathlib import Path

import pytest

from voicenym.errors import VoicenymError
from voicenym.identity import identity
from voicenym.identity.householder import opened
from voicenym.nets.checkpoint import version
from voicenym.nets.encoder_folders import folder_of
from voicenym.nets.hub import place_of
from voicenym.nets.identity.bundled_networks import BUNDLED
from voicenym.nets.names_and_paths import as_path, is_path, unambiguous
from voicenym.nets.speakers.speaker_encoders import SMALL
from voicenym.nets.speakers.speechbrain_encoder import find
from voicenym.verification.verifiers import network, verifier

HERE = "write ./{} for the one in the current folder"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A hostile current folder: ``here(name)`` makes a folder of that name in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))

    def make(name: str) -> Path:
        place = tmp_path / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "config.json").write_text("{}")
        return place

    return make


@pytest.mark.parametrize("text", ["./a", "a/", "/a", "../a", "a/b", ".", ".."])
def test_a_text_with_separators_or_of_dots_is_a_path_and_stays_as_it_is(text):
    assert is_path(text)
    assert as_path(text) == text


def test_a_bare_name_is_no_path_and_a_path_is_written_as_one():
    assert not is_path("ecapa-small")
    assert as_path(Path("./ecapa-small")) == "./ecapa-small"


def test_a_folder_does_not_replace_a_bundled_network(here):
    here("ecapa-small")
    assert opened("ecapa-small") is opened(f"{BUNDLED}/ecapa-small")
    with pytest.raises(VoicenymError, match="ecapa-small"):  # the one here, which is none
        opened("./ecapa-small")


def test_a_folder_does_not_replace_bundled_encoders(here):
    here("ecapa-small")
    assert folder_of("speaker", "ecapa-small") == SMALL
    assert verifier("ecapa-small").version == version(SMALL)


def test_a_folder_does_not_replace_an_entry_of_the_catalogue(here):
    here("hubert-base")
    with pytest.raises(VoicenymError, match="not here yet"):
        place_of("hubert-base")
    assert place_of("./hubert-base") == "./hubert-base"
    here("ecapa-voxceleb")
    with pytest.raises(VoicenymError, match="not here yet"):
        find("ecapa", "ecapa-voxceleb")


def test_a_folder_does_not_replace_a_name_of_the_hub(here):
    place = here("owner/name")
    (place / "embedding_model.ckpt").write_bytes(b"planted")
    with pytest.raises(VoicenymError, match=r"write \./owner/name for that"):
        find("ecapa", "owner/name")
    with pytest.raises(VoicenymError, match=r"models convert \S+owner/name --as ecapa"):
        find("ecapa", "./owner/name")
    for name in ("owner/name", "ecapa"):
        here(name)
        with pytest.raises(VoicenymError, match=f"write ./{name} for that"):
            unambiguous(name)  # what transformers would take for the folder
        assert unambiguous(f"./{name}") == f"./{name}"


@pytest.mark.parametrize(
    "ask",
    [
        opened,
        place_of,
        verifier,
        network,
        lambda name: find("ecapa", name),
        lambda name: folder_of("content", name),
    ],
)
def test_an_unknown_name_that_is_here_says_how_to_mean_it(here, ask):
    with pytest.raises(VoicenymError) as caught:
        ask("mine")
    assert "current folder" not in str(caught.value)
    here("mine")
    with pytest.raises(VoicenymError) as caught:
        ask("mine")
    assert HERE.format("mine") in str(caught.value)


def test_a_configuration_here_does_not_replace_a_bundled_one(here, tmp_path):
    pytest.importorskip("yaml")
    pytest.importorskip("lightning")
    from voicenym.training.run.config import load
    from voicenym.training.speakers.train_verifier import VerifierConfig

    bundled = load("ecapa-small", VerifierConfig)
    for name in ("ecapa-small", "ecapa-small.yaml", "own.yaml"):
        (tmp_path / name).write_text("batch: 3\n")
    assert load("ecapa-small", VerifierConfig) == bundled
    assert load("ecapa-small.yaml", VerifierConfig) == bundled
    assert load("./own.yaml", VerifierConfig).batch == 3
    with pytest.raises(VoicenymError, match=HERE.format("own.yaml").replace(".", r"\.")):
        load("own.yaml", VerifierConfig)
    with pytest.raises(VoicenymError, match="cannot be read as a configuration"):
        load("./nothing.yaml", VerifierConfig)


def test_a_path_of_python_stays_one(here, monkeypatch):
    here("ecapa-small")
    method = identity("householder", model=Path("ecapa-small"))
    assert method.model == "./ecapa-small"
