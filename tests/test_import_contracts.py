"""Import contracts of pyproject.toml: circles are found, those for the type checker included."""

import tomllib
from pathlib import Path

import pytest

CONTRACTS = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))[
    "tool"
]["importlinter"]


@pytest.mark.parametrize(
    ("imports", "broken"),
    [
        ("", 0),
        ("from ring import a", 1),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ring.a import A", 1),
        ("def made():\n    from ring.a import A\n    return A()", 1),
    ],
)
def test_a_circle_breaks_the_contract(tmp_path, monkeypatch, imports, broken):
    cli = pytest.importorskip("importlinter.cli")
    (contract,) = [c for c in CONTRACTS["contracts"] if c["type"] == "acyclic_siblings"]
    assert contract["ancestors"] == [CONTRACTS["root_package"]] == ["voicenym"]
    assert "ignore_imports" not in contract
    assert "skip_descendants" not in contract
    assert not CONTRACTS.get("exclude_type_checking_imports", False)
    package = tmp_path / "ring"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "a.py").write_text("from ring import b\n\nclass A:\n    b = b\n")
    (package / "b.py").write_text(imports + "\n")
    config = tmp_path / "contracts.toml"
    config.write_text(
        '[tool.importlinter]\nroot_package = "ring"\n[[tool.importlinter.contracts]]\n'
        f'name = "circles"\ntype = "{contract["type"]}"\nancestors = ["ring"]\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = cli.lint_imports(config_filename=str(config), no_cache=True)
    assert found == broken
