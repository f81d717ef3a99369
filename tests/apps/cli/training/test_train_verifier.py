"""``voicenym train verifier``: from a folder of speakers to a verifier of an evaluation."""

from __future__ import annotations

import json
import stat
import tarfile
import tempfile

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError

pytest.importorskip("lightning")

CONFIG = """
options: {channels: 16, size: 12, attention: 8, squeeze: 8}
seconds: 0.4
batch: 8
speeds: [1.0]
every: 2
"""


@pytest.fixture(scope="module")
def buzzers(tmp_path_factory):
    """Seven speakers who buzz at pitches of their own; two more to be judged on."""
    root = tmp_path_factory.mktemp("speech")
    time = np.arange(9_600) / 16_000
    for folder, speakers in (("train", range(7)), ("test", (7, 8))):
        for speaker in speakers:
            for take in range(3):
                rng = np.random.default_rng([speaker, take])
                pitch = 90.0 * 1.15**speaker
                sound = sum(np.sin(2 * np.pi * k * pitch * time + k) / k for k in range(1, 9))
                place = root / folder / f"s{speaker}" / f"{take}.wav"
                place.parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(place, 0.1 * sound + 0.01 * rng.standard_normal(9_600), 16_000)
    (root / "tiny.yaml").write_text(CONFIG)
    return root


def test_a_verifier_is_trained_measured_saved_and_used(buzzers, tmp_path, command):
    out = tmp_path / "verifier"
    done = command(
        "train", "verifier", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", out,
        "--test", buzzers / "test", "--steps", "4", "--accelerator", "cpu", "--workers", "0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert b"EER same sex" in done.stdout
    assert b"step 4" in done.stderr
    card = json.loads((out / "config.json").read_text())["card"]
    assert card["speakers"] == 3
    assert card["steps"] == 4
    assert stat.S_IMODE((out / "speech").stat().st_mode) == 0o700
    from voicenym.verification.verifiers import verifier

    vectors = verifier(str(out)).embed([np.ones(8_000, np.float32), np.zeros(400, np.float32)])
    assert vectors.shape == (2, 12)
    assert np.isfinite(vectors).all()
    more = command(
        "train", "verifier", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", out,
        "--steps", "2", "--from", out, "--quiet",
    )  # fmt: skip
    assert more.returncode == 0, more.stderr
    assert json.loads((out / "config.json").read_text())["card"]["steps"] == 6
    assert more.stderr == b""


def refused(*arguments):
    """What the command says when it refuses to train."""
    done = CliRunner().invoke(app, ["train", "verifier", *map(str, arguments)])
    assert isinstance(done.exception, VoicenymError), done.output
    return str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "soon"], "--budget soon: give a time"),
        (["-c", "nothing"], "ecapa-small"),
        (["--accelerator", "tpu"], "auto, cpu or gpu"),
        (["--from", "nowhere"], "no verifier 'nowhere'"),
        (["--system", "nothing"], "nothing"),
        (["--per", "day"], "speaker or utterance"),
        (["-d", "missing"], "missing: no such file"),
    ],
)
def test_mistakes_are_one_line(buzzers, tmp_path, arguments, message):
    given = {"-d": buzzers / "train", "-c": buzzers / "tiny.yaml", "-o": tmp_path / "out"}
    given.update(zip(arguments[::2], arguments[1::2], strict=True))
    error = refused(*(x for pair in given.items() for x in pair))
    assert message in error
    assert "\n" not in error


def test_too_few_speakers_are_refused(buzzers, tmp_path):
    data = ("-d", buzzers / "test", "-c", buzzers / "tiny.yaml", "-o", tmp_path)
    assert "too few" in refused(*data)


def test_speakers_to_judge_on_must_be_others(buzzers, tmp_path):
    data = ("-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", tmp_path)
    assert "both in the data and in the test" in refused(*data, "--test", buzzers / "train")


def left_after(folder, data, config, *steps):
    """Last checkpoint of a run that is left and resumed after each number of steps; times of the
    files of prepared speech.
    """
    for count in steps:
        done = CliRunner().invoke(
            app,
            ["train", "verifier", "-d", str(data), "-c", str(config), "-o", str(folder),
             "--steps", str(count), "--accelerator", "cpu", "--workers", "0"],
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert f"step {count}" in done.stderr
    return (
        torch.load(folder / "last.ckpt", weights_only=False),
        {path.name: path.stat().st_mtime_ns for path in (folder / "speech").iterdir()},
    )


def test_a_training_on_shards_goes_on_where_it_stopped(buzzers, tmp_path, monkeypatch):
    """Private copies have new places in each run; prepared speech is that of files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    shards = tmp_path / "shards"
    shards.mkdir()
    for part in range(2):
        with tarfile.open(shards / f"{part}.tar", "w") as tar:
            for path in sorted((buzzers / "train").rglob("*.wav")):
                if int(path.stem) % 2 == part:
                    tar.add(path, str(path.relative_to(buzzers / "train")))
    config = buzzers / "tiny.yaml"
    _, prepared = left_after(tmp_path / "a", buzzers / "train", config, 2)
    first, before = left_after(tmp_path / "b", shards, config, 2)
    resumed, after = left_after(tmp_path / "b", shards, config, 4)
    assert after == before  # nothing is prepared a second time
    assert after.keys() == prepared.keys()
    assert [kept["global_step"] for kept in (first, resumed)] == [2, 4]
