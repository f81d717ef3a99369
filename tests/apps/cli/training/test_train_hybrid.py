"""``voicenym train hybrid``: from aligned texts to a recogniser with tuned searches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("pocketsphinx")

from voicenym.apps.cli import app
from voicenym.corpus.recordings import recordings
from voicenym.nets.words.phone_model import PhoneModel
from voicenym.recognition.sphinx_processes.alignment import _name

CONFIG = """
options: {width: 8, gaps: [1], dropout: 0.0}
batch: 2
every: 2
held_out: 0.25
speeds: [1.0]
"""
MANIFEST = "utterance\tpath\tspeaker\tgender\tage\tsplit\tlanguage\tcorpus\ttext\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Four speakers who say one word, with alignments, and one who says nothing known."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(CONFIG)
    time = np.arange(12_800) / 16_000
    rows = []
    for number in range(4):
        path = folder / f"{number}.wav"
        soundfile.write(path, 0.2 * np.sin(2 * np.pi * (300 + 90 * number) * time), 16_000)
        rows.append(f"u{number}\t{path}\ts{number}\t\t\ttrain\ten\tone\tsee\n")
    (folder / "train.tsv").write_text(MANIFEST + "".join(rows))
    phones = [["SIL", 0.0, 0.2], ["S", 0.2, 0.4], ["IY", 0.4, 0.8]]
    known = recordings(folder / "train.tsv", None, None)
    lines = [json.dumps({"of": _name(r), "phones": phones}) + "\n" for r in known]
    (folder / "alignments.jsonl").write_text("".join(lines))
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
