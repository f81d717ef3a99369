"""Versions of weights in logs, caches and resumed runs."""

import json
import shutil

import pytest
import torch

from voicenym import load
from voicenym.identity.pools.speaker_pool import Pool, save
from voicenym.nets.checkpoint import CONFIG
from voicenym.systems import base, vcloak

pytest.importorskip("safetensors")


@pytest.mark.parametrize(("name", "bundled"), [("base", base.BUNDLED), ("vcloak", vcloak.BUNDLED)])
def test_other_weights_are_another_version(name, bundled, tmp_path):
    system = load(name)
    assert len(system.version) == 16
    folder = tmp_path / "weights"
    shutil.copytree(bundled, folder)
    assert load(name, weights=str(folder)).version == system.version
    given = json.loads((folder / CONFIG).read_text())
    given["sha256"] = 64 * "0"
    (folder / CONFIG).write_text(json.dumps(given))
    assert load(name, weights=str(folder)).version == 16 * "0"
    assert load(name, weights=str(tmp_path / "nowhere")).version == ""


def test_another_pool_in_the_same_place_is_another_version(tmp_path):
    torch.manual_seed(0)
    folder = tmp_path / "pool"

    def kept(vectors, sexes) -> str:
        save(Pool(vectors, tuple(sexes), tuple("abcd"), "ecapa-small"), folder)
        nested = f"distinct:pool={folder},of=(selection:pool={folder},world=2,region=1)"
        return load("base", identity=nested).version

    vectors = torch.randn(4, 192)
    first = kept(vectors, "fmfm")
    assert kept(vectors, "fmfm") == first
    others = {first, kept(torch.randn(4, 192), "fmfm"), kept(vectors, "ffmm")}
    assert len(others) == 3
    assert load("base").version not in others
    assert load("base", identity="copy").version == load("base").version


def test_a_folder_here_with_the_name_of_a_bundled_network_or_a_setting_is_not_read(
    tmp_path, monkeypatch
):
    torch.manual_seed(0)
    save(Pool(torch.randn(4, 192), tuple("fmfm"), tuple("abcd"), "ecapa-small"), tmp_path / "pool")
    names = "householder:model=ecapa-small", "autoencoder:model=autoencoder-small"
    systems = [load("base", identity=name) for name in (*names, "selection:pool=pool,sex=any")]
    monkeypatch.chdir(tmp_path)
    before = [system.version for system in systems]
    for name in ("ecapa-small", "autoencoder-small", "any", "far"):
        (tmp_path / name).mkdir()
        (tmp_path / name / CONFIG).write_text("{")
    assert [system.version for system in systems] == before
    assert len(set(before)) == 2


def test_another_target_under_the_same_name_is_another_version(tmp_path):
    path = tmp_path / "target.wav"
    versions = set()
    for content in (b"one", b"other"):
        path.write_bytes(content)
        versions.add(load("vcloak", target=str(path)).version)
    path.unlink()
    assert len(versions) == 2
    weights = str(vcloak.TARGETED)  # a target has weights of its own
    assert load("vcloak", target=str(path)).version == load("vcloak", weights=weights).version
