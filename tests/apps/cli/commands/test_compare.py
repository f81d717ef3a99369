"""``voicenym compare``: tables in a terminal, values in a pipe, JSON."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("scipy")

from voicenym.apps.cli.terminal import tables
from voicenym.evaluation import results_file
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults


@pytest.fixture
def reports(tmp_path):
    """Folders of two reports, ``a`` with two systems and ``b`` with one."""

    def system(name, value):
        figures = {"EER": Measured(value, value - 2.0, value + 2.0, "%")}
        utility = {
            "WER": Measured(2 * value, 2 * value - 1.0, 2 * value + 1.0, "%"),
            "G_VD": Measured(float("-inf"), unit="dB"),
        }
        who = "semi-informed (i-vectors and prosody trained)"
        attack = AttackFigures(who, "all", "i-vectors", figures, "A", 9, 99)
        return SystemResults(name, "title", {}, "speaker", (attack,), utility)

    for name, systems in (("a", [("x", 10.0), ("y", 11.0)]), ("b", [("z", 30.0)])):
        made = tuple(system(*one) for one in systems)
        found = Evaluation("0.1", "2026-11-21", f"corpus {name}", 9, 99, (), made)
        results_file.save(found, tmp_path / name)
    return ["a", "b"]


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_tables_fit_the_terminal(columns, reports, command, monkeypatch):
    monkeypatch.setattr(tables, "is_terminal", lambda: True)
    done = command("compare", *reports, COLUMNS=str(columns))
    assert done.returncode == 0, done.stderr.decode()
    text = done.stdout.decode()
    assert max(map(len, text.splitlines())) <= columns
    words = text.split()
    for word in ("x", "EER", "semi-informed", "Differences", "different", "unpaired"):
        assert word in words
    assert "b: z against a: x" in " ".join(words)
    assert "Different data (corpus a; corpus b)" in " ".join(words)


def test_a_pipe_gets_values(reports, command):
    done = command("compare", *reports)
    text = done.stdout.decode()
    systems, *differences = text.split("\n\n")
    assert systems.splitlines()[0].startswith("system\tattacker\tEER %\t")
    assert [line.split("\t")[0] for line in systems.splitlines()[1:]] == ["a: x", "a: y", "b: z"]
    assert differences[0].startswith("figure\tpair\tpoints\tinterval\tp\ttest\tverdict\n")
    assert "Different data (corpus a; corpus b)" in done.stderr.decode()


def test_programs_get_json(reports, command):
    found = json.loads(command("compare", *reports, "--json").stdout)
    assert [system["figures"]["EER"]["value"] for system in found["systems"]] == [10.0, 11.0, 30.0]
    assert found["systems"][0]["figures"]["G_VD"]["value"] is None
    (first, *_) = found["differences"].values()
    assert {pair["first"] for pair in first} == {"a: x", "a: y"}
