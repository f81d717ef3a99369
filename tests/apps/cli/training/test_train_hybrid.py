"""``voicenym train hybrid``: from aligned texts to a recogniser with tuned searches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.aligned_tones import aligned_tones
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("pocketsphinx")

from voicenym.apps.cli import app
from voicenym.nets.words.phone_states.phone_model import PhoneModel

CONFIG = """
options: {width: 8, gaps: [1], dropout: 0.0}
batch: 2
every: 2
held_out: 0.25
speeds: [1.0]
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Four speakers who say one word, with alignments."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(CONFIG)
    aligned_tones(folder, 4, 4)
    return folder


def run(folder: Path, output: Path, *more: object) -> str:
    given = ["--alignments", folder / "alignments.jsonl", "-c", folder / "tiny.yaml", "-j", "0"]
    words = ["train", "hybrid", "-d", folder / "train.tsv", "-o", output, *given, *more]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_recogniser_is_trained_tuned_and_trained_further(corpus, tmp_path):
    said = run(corpus, tmp_path / "first", "--steps", "2", "--accelerator", "cpu")
    assert re.search(r"WER \d+\.\d %, PER \d+\.\d % on held-out speakers", said)
    model, config = PhoneModel.load(tmp_path / "first")
    assert model.states.phones == ("IY", "S")
    assert config["training"]["recordings"] == 3
    assert config["training"]["from"] == ""
    assert (tmp_path / "first" / "words.arpa").is_file()
    run(
        corpus, tmp_path / "second", "--from", tmp_path / "first",
        "--steps", "2", "--accelerator", "cpu",
    )  # fmt: skip
    assert PhoneModel.load(tmp_path / "second")[1]["training"]["from"] == "first"


def test_texts_without_a_known_word_are_refused(corpus, tmp_path):
    text = (corpus / "train.tsv").read_text().replace("\tsee\n", "\tqqxzv\n")
    (tmp_path / "train.tsv").write_text(text)
    words = ["train", "hybrid", "-d", tmp_path / "train.tsv", "-o", tmp_path / "out", "-j", "0"]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 1
    assert "no word has a known pronunciation; give --lexicon" in str(result.exception)
