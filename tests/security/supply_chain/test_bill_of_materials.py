"""The bill of materials names each package and file of weights that is released."""

from __future__ import annotations

import json

from package_locks import ROOT, locked
from packaging.utils import canonicalize_name

import voicenym
from voicenym.nets import digests


def test_the_bill_of_materials_is_complete():
    bill = json.loads((ROOT / "locks" / "sbom.cdx.json").read_text("utf-8"))
    assert bill["bomFormat"] == "CycloneDX"
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("voicenym", voicenym.__version__)
    packages = {}
    for part in bill["components"]:
        if part["type"] == "library":
            given = {h["content"] for r in part["externalReferences"] for h in r.get("hashes", [])}
            packages[canonicalize_name(part["name"]), part["version"]] = given
    wanted = {}
    for name in ("base", "gpu"):
        for requirement, hashes in locked(name):
            version = str(requirement.specifier).removeprefix("==")
            wanted[canonicalize_name(requirement.name), version] = hashes
    assert packages == wanted, "run make sbom"
    weights = {
        part["name"]: part["hashes"][0]["content"]
        for part in bill["components"]
        if part["type"] == "machine-learning-model"
    }
    bundled = {n: d for n, d in digests.pinned().items() if n.endswith(".safetensors")}
    assert weights == bundled, "run make sbom"
