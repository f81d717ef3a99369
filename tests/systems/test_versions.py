"""Weights are told from others: in logs, in caches, and when work is gone on with."""

import json
import shutil

import pytest

from voicenym import load
from voicenym.nets.folder import CONFIG
from voicenym.systems import base, vcloak

pytest.importorskip("safetensors")


@pytest.mark.parametrize(("name", "bundled"), [("base", base.BUNDLED), ("vcloak", vcloak.BUNDLED)])
def test_other_weights_are_another_version(name, bundled, tmp_path):
    system = load(name)
    assert len(system.version) == 16
    folder = tmp_path / "weights"
    shutil.copytree(bundled, folder)
    assert load(name, weights=str(folder)).version == system.version
    told = json.loads((folder / CONFIG).read_text())
    told["sha256"] = 64 * "0"
    (folder / CONFIG).write_text(json.dumps(told))
    assert load(name, weights=str(folder)).version == 16 * "0"
    assert load(name, weights=str(tmp_path / "nowhere")).version == ""
