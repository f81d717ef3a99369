"""Registry of systems: this package's and another package's, which declares one in the same way."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from fractions import Fraction
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch

import voicenym
from voicenym.anonymizer import (
    available,
    card,
    load,
    registry,
    system_class,
    system_classes,
    usable,
)
from voicenym.apps.cli import _of_other_package
from voicenym.apps.cli.commands.systems import systems
from voicenym.corpus.batches.batch_task import in_words
from voicenym.errors import UnknownSystemError
from voicenym.registry import entry_points as points

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """``broken("code")``: an installed package whose system ``ruined`` comes from that code."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def make(code: str) -> None:
        about = tmp_path / "site" / "ruin-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: ruin\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\nruined = ruin:Ruined\n")
        (tmp_path / "site" / "ruin.py").write_text(code)

    yield make
    sys.modules.pop("ruin", None)


def test_every_module_of_systems_is_declared_by_its_name():
    modules = {
        path.stem.replace("_", "-")
        for path in (ROOT / "src" / "voicenym" / "systems").glob("*.py")
        if path.stem != "__init__"
    }
    assert modules == set(available())
    for name, cls in system_classes().items():
        assert cls.__module__ == f"voicenym.systems.{name.replace('-', '_')}"


def test_an_unknown_system_names_the_near_ones():
    with pytest.raises(UnknownSystemError, match=r"no system 'mcadam' \(did you mean mcadams or "):
        load("mcadam")
    with pytest.raises(UnknownSystemError, match=r"no parameter wide; it has: .*radius"):
        load("mcadams", wide=1)
    with pytest.raises(UnknownSystemError, match="order is a whole number, which '20' is not"):
        load("mcadams", order="20")
    with pytest.raises(UnknownSystemError, match="mcadams has no revision 7; it has: 1"):
        load("mcadams", revision=7)


def test_parameters_may_follow_the_name():
    assert load("mcadams:low=0.7,high=0.8") == load("mcadams", low=0.7, high=0.8)
    assert load("mcadams:low=0.7,high=0.8", low=0.6).low == 0.6


def test_an_installed_release_reads_its_own_metadata(tmp_path, monkeypatch):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    about = tmp_path / "voicenym-9.9.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: voicenym\nVersion: 9.9\n")
    lines = declared["project"]["entry-points"][registry.GROUP].items()
    text = "\n".join(f"{name} = {place}" for name, place in lines)
    (about / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{text}\n")
    before = available()
    monkeypatch.setattr(points, "ROOT", str(tmp_path))
    points._own.cache_clear()
    try:
        assert available() == before
        (about / "entry_points.txt").unlink()
        points._own.cache_clear()
        with pytest.raises(UnknownSystemError, match="metadata of voicenym is missing: install"):
            load("mcadams")
    finally:
        monkeypatch.undo()
        points._own.cache_clear()


def test_what_an_installer_writes_is_what_the_checkout_declares():
    try:
        found = metadata.distribution("voicenym").entry_points.select(group=registry.GROUP)
    except metadata.PackageNotFoundError:
        pytest.skip("voicenym is not installed")
    if not found:
        pytest.skip("the metadata of the editable installation is older than the declaration")
    ours = points._own(registry.GROUP)
    assert {(item.name, item.value) for item in found} >= {(p.name, p.place) for p in ours}


def test_a_package_adds_a_system_as_ours_are_added(plugged):
    assert "whispered" in available()
    assert "whispered" in usable()
    system = load("whispered:low=1.2", high=1.25)
    assert (system.low, system.high) == (1.2, 1.25)
    assert system_class("whispered").__module__ == "whispered_voice.whispered"
    assert voicenym.revisions()["whispered"] == 1
    assert system.card.figures == ()
    with pytest.raises(UnknownSystemError, match=r"\(did you mean whispered\?\)"):
        load("whisper")


def test_figures_of_another_package_lie_beside_its_system(plugged):
    row = {"metric": "EER", "condition": "ignorant", "value": 30.0, "low": None, "high": None}
    row |= {"unit": "%", "data": "made", "date": "2026-01-01"}
    card._figures.cache_clear()
    file = plugged / "whispered_voice" / "figures.json"
    file.write_text(json.dumps({"whispered": [row]}))
    try:
        assert [f.value for f in system_class("whispered").card.figures] == [30.0]
        assert system_class("mcadams").card.figures
    finally:
        file.unlink()
        card._figures.cache_clear()


def test_the_command_lists_it(plugged, capsys):
    systems(None, as_json=True)
    assert "whispered" in {card["name"] for card in json.loads(capsys.readouterr().out)}


def test_the_command_and_its_workers_run_it(plugged, tmp_path, command):
    time = np.arange(32_000) / 16_000
    for name, pitch in (("a", 110.0), ("b", 190.0)):
        phase = 2 * np.pi * pitch * time + 3 * np.sin(2 * np.pi * 2 * time)
        buzz = sum(np.cos(k * phase) / k for k in range(1, 30)) * (1 + np.sin(2 * np.pi * 3 * time))
        soundfile.write(tmp_path / f"{name}.wav", 0.1 * buzz, 16_000)

    arguments = ["a.wav", "b.wav", "-o", "out", "--system", "whispered", "--set", "low=1.2"]
    done = command("anonymize", *arguments, "--workers", "2")
    assert done.returncode == 0, done.stderr.decode()
    assert len(list((tmp_path / "out").glob("*.wav"))) == 2


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_library", "No module named 'no_such_library'"),
        ("class Ruined: pass", "ruin:Ruined is no system"),
        (
            "from voicenym.systems.mcadams import McAdams\nclass Ruined(McAdams): pass",
            "a card with the name 'ruined' is missing",
        ),
        (
            "import dataclasses, voicenym\n"
            "class Ruined(voicenym.Anonymizer):\n"
            "    from voicenym.systems.mcadams import McAdams\n"
            "    card = dataclasses.replace(McAdams.card, name='ruined')\n",
            "its method core is missing",
        ),
    ],
)
def test_a_broken_package_is_named_and_stops_no_other_system(broken, tmp_path, capsys, code, why):
    broken(code)
    assert "ruined" in available()
    assert load("mcadams").card.name == "mcadams"
    for ask in (load, system_class):
        with pytest.raises(
            UnknownSystemError, match="'ruined' of the package ruin cannot"
        ) as caught:
            ask("ruined")
        assert why in str(caught.value)
    with pytest.warns(RuntimeWarning, match="ruined is left out: system 'ruined' of the package"):
        assert "ruined" not in voicenym.revisions()
    systems(None, as_json=True)
    output = capsys.readouterr()
    assert {card["name"] for card in json.loads(output.out)} == set(available()) - {"ruined"}
    assert why in output.err
    left: dict[str, str] = {}
    assert "mcadams" in usable(left.__setitem__)
    assert why in left["ruined"]
    with pytest.warns(RuntimeWarning, match="ruined is left out"):
        voicenym.Key.generate().save(tmp_path / "key")
    assert voicenym.Key.load(tmp_path / "key").revisions["mcadams"] == 2


FAILING = """
from dataclasses import dataclass, replace
from voicenym.systems.mcadams import McAdams

@dataclass(frozen=True)
class Ruined(McAdams):
    card = replace(McAdams.card, name="ruined")

    def __post_init__(self):
        if self.order > 20:
            raise ValueError("an order above 20")

    def core(self, pseudonyms, rate, profile):
        return {}["no such voice"]
"""


def test_errors_of_another_package_s_system_are_told_as_that_package_s(broken):
    broken(FAILING)
    with pytest.raises(
        UnknownSystemError, match=r"of the package ruin .*\(ValueError: an order above 20\)"
    ):
        load("ruined", order=22)
    audio = voicenym.Audio(torch.zeros(1600), 16_000)
    with pytest.raises(KeyError) as caught:
        load("ruined")(audio, voicenym.Key.generate().pseudonym("anna"))
    assert "this is a defect of the package ruin" in in_words(caught.value)
    # a command says so in one line; its own defects are tracebacks to report
    assert _of_other_package(caught.value) == in_words(caught.value)
    with pytest.raises(ZeroDivisionError) as ours:
        Fraction(1, 0)
    assert "this is a defect of voicenym" in in_words(ours.value)
    assert _of_other_package(ours.value) is None


def test_a_key_notes_the_revision_of_another_package_s_system(plugged, tmp_path):
    voicenym.Key.generate().save(tmp_path / "key")
    assert voicenym.Key.load(tmp_path / "key").revisions["whispered"] == 1


@pytest.mark.slow
def test_the_laws_hold_for_it(example_package):
    """They run over every system there is, and so over an installed package's."""
    laws = ROOT / "tests" / "laws" / "test_laws.py"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            str(laws),
            "-k",
            "whispered",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(example_package)},
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"\b[3-9]\d passed", done.stdout), done.stdout[-500:]
