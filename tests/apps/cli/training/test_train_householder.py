"""``voicenym train householder``: from vectors, or speech, to an identity method."""

import json

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

from voicenym import Key
from voicenym.apps.cli import app
from voicenym.errors import VoicenymError
from voicenym.identity import identity
from voicenym.identity.pools.speaker_pool import Pool, save


def run(*arguments: object):
    return CliRunner().invoke(app, ["train", "householder", *map(str, arguments)])


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text("{layers: 1, reflections: 3, batch: 8, every: 2, held_out: 0.3}")
    return path


def test_a_network_is_trained_on_vectors_and_used(tmp_path, recipe):
    noise = torch.Generator().manual_seed(0)
    names = tuple(f"s{i // 5}" for i in range(30))
    pool = Pool(torch.randn(30, 12, generator=noise), ("",) * 30, names, "invented")
    save(pool, tmp_path / "pool")
    done = run(
        "--vectors", tmp_path / "pool", "-c", recipe, "--steps", 4, "--seed", 1986, "-o",
        tmp_path / "net",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "trained: 4 steps, " in done.output
    assert "result: held-out loss " in done.output
    card = json.loads((tmp_path / "net" / "config.json").read_text())["card"]
    assert (card["speakers"], card["seed"], card["steps"]) == (6, 1986, 4)
    method = identity(f"householder:model={tmp_path / 'net'}")
    found = method(pool.vectors[0], Key(bytes(32)).pseudonym("a"))
    assert found.shape == (12,)
    assert not torch.allclose(found, pool.vectors[0])


def test_speech_is_embedded_once(tmp_path, recipe):
    for speaker in range(2):
        for take in range(4):
            rng = np.random.default_rng([speaker, take])
            path = tmp_path / "speech" / f"s{speaker}" / f"{take}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, 0.1 * rng.standard_normal(6_400), 16_000)
    for _ in range(2):
        done = run(
            "-d", tmp_path / "speech", "-c", recipe, "--steps", 2, "-o", tmp_path / "net",
            "--budget", "1h",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        stamp = (tmp_path / "net" / "vectors" / "config.json").stat().st_mtime_ns
    assert "8 x 192" in done.output
    assert stamp == (tmp_path / "net" / "vectors" / "config.json").stat().st_mtime_ns


def test_one_source_is_needed(tmp_path):
    done = run("-o", tmp_path)
    assert isinstance(done.exception, VoicenymError)
    assert "--vectors or --data" in str(done.exception)
