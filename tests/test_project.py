"""Consistency of the repository: layout, files and texts."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import voicenym
from voicenym.anonymizer import available, system_class

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "voicenym"


def tracked() -> list[Path]:
    """Files under version control; all but the ignored ones where there is no git."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a clone of the repository")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def rooms() -> list[str]:
    return sorted(
        path.stem
        for path in PACKAGE.iterdir()
        if (path.is_dir() and any(path.glob("*.py")))
        or (path.suffix == ".py" and not path.stem.startswith("__"))
    )


@pytest.mark.parametrize("name", available())
def test_a_system_has_a_page_that_the_navigation_knows(name: str) -> None:
    page = ROOT / "docs" / "systems" / f"{name}.md"
    assert page.is_file(), f"write docs/systems/{name}.md"
    assert page.read_text("utf-8").startswith(f"# {name}\n")
    assert f"systems/{name}.md" in (ROOT / "mkdocs.yml").read_text("utf-8")


def test_no_page_is_left_of_a_system_that_is_gone() -> None:
    pages = {path.stem for path in (ROOT / "docs" / "systems").glob("*.md")} - {"index"}
    assert pages == set(available())


@pytest.mark.parametrize("name", available())
def test_a_page_names_every_parameter_that_it_lists(name: str) -> None:
    """A table of parameters, where a page has one, holds the fields of the system and no others.

    Those of every system, such as the device, stand in the pages on systems as a whole.
    """
    text = (ROOT / "docs" / "systems" / f"{name}.md").read_text("utf-8")
    section = re.search(r"^## Parameters\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    if section is None:
        return
    cells = [row.split("|")[1] for row in section[1].splitlines() if row.startswith("| `")]
    listed = {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}
    common = {item.name for item in dataclasses.fields(voicenym.Anonymizer)}
    assert listed == {item.name for item in dataclasses.fields(system_class(name))} - common


def test_the_changelog_knows_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert re.search(rf"^## \[{re.escape(voicenym.__version__)}\]", changelog, re.MULTILINE)


@pytest.mark.parametrize("room", rooms())
def test_the_architecture_names_each_room(room: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert f"| `voicenym.{room}` |" in text


def test_no_two_modules_share_a_name() -> None:
    names = Counter(path.name for path in PACKAGE.rglob("*.py"))
    assert [name for name, count in names.items() if count > 1 and name != "__init__.py"] == []


def test_the_architecture_names_no_room_that_is_not_there() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    assert sorted(re.findall(r"^\| `voicenym\.(\w+)` \|", text, re.MULTILINE)) == rooms()


def test_import_linter_has_a_place_for_each_room() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    listed = [room for layer in layers for room in layer.split(" | ")]
    assert sorted(room for room in listed if room != "(__main__)") == rooms()


def test_the_smallest_system_of_the_architecture_works() -> None:
    import torch

    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    snippet = re.search(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert snippet
    names: dict = {"__name__": "architecture"}
    exec(compile(snippet[1], "docs/architecture.md", "exec"), names)
    noise = voicenym.Audio(torch.linspace(-0.5, 0.5, 5000).repeat(2, 1), 16000)
    out = names["Nothing"]()(noise, voicenym.Key(bytes(32)).pseudonym("anna"))
    assert out.samples.equal(noise.samples)


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_no_file_holds_a_path_of_the_machine_it_was_made_on() -> None:
    # people's homes, places where work is mounted, and the folder that this clone lies in
    homes = re.compile(rb"(?<![\w.~/>-])/(?:home|Users|root|work|workspace|mnt)/\w")
    here = b"" if len(ROOT.parts) < 3 else str(ROOT).encode() + b"/"
    for path in tracked():
        data = path.read_bytes()
        assert not homes.search(data), path
        assert not here or here not in data, path


def test_every_import_is_a_dependency() -> None:
    """The base works with the base's dependencies; an extra is imported only inside a function.

    The recipes of training/ are made of Lightning's classes: who imports them has the extra.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base = {re.split(r"[<>=!\[ ]", line)[0] for line in project["dependencies"]}
    extra = project["optional-dependencies"]["train"]
    train = {re.split(r"[<>=!\[ ]", line)[0] for line in extra}

    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in tree.body:
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [node.module or ""]
            for module in modules:
                top = module.partition(".")[0]
                known = top in sys.stdlib_module_names or top in base or top == "voicenym"
                known |= path.is_relative_to(PACKAGE / "training") and top in train
                assert known, f"{path.relative_to(ROOT)} imports {module}, not a dependency"


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_does_not_import_torch() -> None:
    assert python("import sys, voicenym; print('torch' in sys.modules)") == "False\n"


def test_a_public_name_means_the_same_before_and_after_a_system_was_loaded() -> None:
    python(
        "import voicenym\n"
        "before = {name: getattr(voicenym, name) for name in voicenym.__all__}\n"
        "voicenym.load('mcadams')\n"
        "for name, value in before.items():\n"
        "    assert getattr(voicenym, name) is value, f'voicenym.{name} has become another thing'\n"
    )


def test_what_comes_along_runs_on_a_plain_install(sample, tmp_path):
    """Without anything that only an extra installs."""
    extras = [
        *("lightning", "tensorboard", "yaml", "huggingface_hub", "transformers", "lhotse"),
        *("scipy", "sklearn", "jiwer", "librosa", "onnxruntime", "speechmos", "pocketsphinx"),
        *("matplotlib", "parselmouth", "pyworld"),
    ]
    systems = ("base", "vcloak", "recast")
    code = f"""
import sys
sys.modules.update(dict.fromkeys({extras!r}))
from voicenym.apps.cli import main
for system in {systems!r}:
    sys.argv = ["voicenym", "anonymize", {str(sample)!r}, "-s", system, "-o", system + ".wav", "-q"]
    try:
        main()
    except SystemExit as end:
        assert not end.code, system
"""
    environment = {**os.environ, "VOICENYM_KEY_FILE": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for system in systems:
        assert (tmp_path / f"{system}.wav").stat().st_size > 10_000


def test_a_plain_install_brings_what_reads_weights():
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert any(needed.startswith("safetensors") for needed in given["dependencies"])


def test_benchmarks_and_tools_import_what_the_package_has() -> None:
    """Nobody runs each of them after each change; a module that moved would break them unseen."""
    missing = []
    for folder in ("benchmarks", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("voicenym"):
                    module = importlib.import_module(str(node.module))
                    missing += [
                        f"{path.relative_to(ROOT)}: {node.module}.{name.name}"
                        for name in node.names
                        if not hasattr(module, name.name)
                        and not importlib.util.find_spec(f"{node.module}.{name.name}")
                    ]
    assert not missing
