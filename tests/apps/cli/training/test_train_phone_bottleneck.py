"""``voicenym train phone-bottleneck``: from aligned texts and word codes to content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from tests.helpers.aligned_tones import aligned_tones
from typer.testing import CliRunner

pytest.importorskip("lightning")
pytest.importorskip("pocketsphinx")

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.nets.content import content_encoders
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

CONFIG = """
options: {size: 6, bands: 20, width: 16, narrow: 4, strides: [1, 3]}
seconds: 0.4
batch: 2
every: 2
held_out: 0.25
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Four speakers with a word each, four without; alignments, and word codes."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "tiny.yaml").write_text(CONFIG)
    aligned_tones(folder, 8, 4)
    torch.manual_seed(0)
    whisper = {"width": 16, "heads": 2, "layers": 1, "bands": 8, "states": 100, "tokens": 10}
    codes = {"states": 16, "window": 100, "width": 16, "inner": 16, "code": 6, "entries": 12}
    content = WordCodeContent({**whisper, "positions": 8, "decoder_layers": 0}, codes)
    content_encoders.save(content, folder / "codes")
    return folder


def run(folder: Path, output: Path, *more: object) -> str:
    done = CliRunner().invoke(
        app,
        [
            "train", "phone-bottleneck", "-d", str(folder / "train.tsv"),
            "-c", str(folder / "tiny.yaml"), "-o", str(output),
            "--alignments", str(folder / "alignments.jsonl"),
            "--steps", "2", "--accelerator", "cpu", "-j", "0", *map(str, more),
        ],
    )  # fmt: skip
    if isinstance(done.exception, VoicenymError):
        return str(done.exception)
    assert done.exit_code == 0, done.output
    return done.output


def test_it_makes_the_content_of_a_pipeline(corpus, tmp_path):
    said = run(corpus, tmp_path / "out", "--codes", corpus / "codes", "--half")
    assert "cross-entropy" in said
    content = content_encoders.load(tmp_path / "out")
    assert (content.kind, content.size, content.hop) == ("tdnnf", 6, 160)
    card = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["card"]
    assert card["recordings"] > card["recordings with aligned phones"] > 0
    assert card["steps"] == 2
    # without codes, recordings without a text teach nothing
    run(corpus, tmp_path / "phones")
    card = json.loads((tmp_path / "phones" / "config.json").read_text("utf-8"))["card"]
    assert card["recordings"] == card["recordings with aligned phones"] < 4


def test_it_goes_on_from_another_against_the_speaker(corpus, tmp_path):
    run(corpus, tmp_path / "first")
    run(corpus, tmp_path / "out", "--from", tmp_path / "first", "--adversary", "0.5")
    card = json.loads((tmp_path / "out" / "config.json").read_text("utf-8"))["card"]
    assert card["from"] == "first"
    assert card["weight of the branch that hides the speaker"] == 0.5
    before, after = (content_encoders.load(tmp_path / name) for name in ("first", "out"))
    assert before.config() == after.config()


def test_mistakes_are_one_line(corpus, tmp_path, small_parts):
    assert "give word codes" in run(
        corpus, tmp_path / "a", "--codes", small_parts["b1a"]["content"]
    )
    assert not (tmp_path / "a" / "last.ckpt").exists()
