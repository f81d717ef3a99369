"""``voicenym train resynthesis``: from a folder of speakers to weights of ``base``."""

from __future__ import annotations

import json

import pytest
import torch
from typer.testing import CliRunner

import voicenym
from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import States

pytest.importorskip("lightning")

CONFIG = """
content: {width: 8, inner: 12, blocks: 1, size: 4}
options: {width: 16, inner: 24, blocks: 1, lookahead: 3, speaker_width: 8}
rank: 2
seconds: 0.5
batch: 2
every: 2
held_out: 0.25
conversion: {share: 0.5}
"""


@pytest.fixture(scope="module")
def speech(tmp_path_factory, buzz):
    """Nine speakers who buzz, and a recogniser that knows two phones."""
    root = tmp_path_factory.mktemp("speech")
    buzz(root / "train", speakers=9, per_speaker=2, time=20_000)
    (root / "tiny.yaml").write_text(CONFIG)
    torch.manual_seed(0)
    PhoneModel.make(States(("AA", "B")), {"width": 16, "gaps": (1,)}).save(root / "phones")
    return root


def trained(speech, out, *more):
    arguments = [
        "train", "resynthesis", "-d", speech / "train", "-c", speech / "tiny.yaml", "-o", out,
        "--steps", "2", "--accelerator", "cpu", "--workers", "0", *more,
    ]  # fmt: skip
    return CliRunner().invoke(app, [str(a) for a in arguments])


def test_parts_are_trained_and_speak(speech, tmp_path):
    out = tmp_path / "parts"
    done = trained(speech, out, "--phones", speech / "phones")
    assert done.exit_code == 0, done.output
    card = json.loads((out / "config.json").read_text())["card"]
    listener = json.loads((speech / "phones" / "config.json").read_text())
    assert card["phones judged by"] == listener["sha256"][:16]
    figures = card["on speakers kept out"]
    assert figures["kept out: phones"] > 0.0
    assert figures["kept out: other voices: phones"] > 0.0
    system = voicenym.load("base", weights=str(out))
    noise = voicenym.Audio(0.1 * torch.randn(8000), 16_000)
    spoken = system(noise, voicenym.Key(bytes(32)).pseudonym("ann"))
    assert spoken.samples.shape == noise.samples.shape
    more = tmp_path / "more"
    done = trained(speech, more, "--from", out, "--share", "0")
    assert done.exit_code == 0, done.output
    # none of the result's: what it began with, and nobody listened
    kept = [voicenym.load("base", weights=str(f)).parts.content.state_dict() for f in (out, more)]
    assert all(torch.equal(kept[0][name], kept[1][name]) for name in kept[0])
    assert "phones judged by" not in json.loads((more / "config.json").read_text())["card"]


def test_content_is_made_alike_once_it_is_known(speech, tmp_path):
    config = tmp_path / "evened.yaml"
    config.write_text(CONFIG + "evened: true\n")
    done = trained(speech, tmp_path / "new", "-c", config)
    assert isinstance(done.exception, VoicenymError)
    assert "--from" in str(done.exception)
    assert not (tmp_path / "new").exists()
    known, made = tmp_path / "known", tmp_path / "made"
    assert trained(speech, known).exit_code == 0
    done = trained(speech, made, "-c", config, "--from", known, "--share", "0.5")
    assert done.exit_code == 0, done.output
    systems = [voicenym.load("base", weights=str(folder)) for folder in (known, made)]
    assert systems[0].parts.everybody is None
    everybody = systems[1].parts.everybody
    assert everybody.covariance.diagonal().max() < 1.0  # content lies between -1 and 1
    noise = voicenym.Audio(0.1 * torch.randn(8000), 16_000)
    key = voicenym.Key(bytes(32))
    spoken = [system(noise, key.pseudonym("ann")).samples for system in systems]
    assert not torch.equal(*spoken)


def test_a_recogniser_of_another_kind_is_refused(speech, tmp_path):
    PhoneModel.make(States(("AA",)), {"width": 16}).save(tmp_path / "asr")
    config = tmp_path / "asr" / "config.json"
    config.write_text(config.read_text().replace('"frames"', '"deepspeech2"'))
    done = trained(speech, tmp_path / "out", "--phones", tmp_path / "asr")
    assert isinstance(done.exception, VoicenymError), done.output
    assert "voicenym train hybrid" in str(done.exception)
