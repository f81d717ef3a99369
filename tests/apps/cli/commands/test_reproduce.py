"""``voicenym reproduce``: list, tables that need no speech, stored outcomes and pages."""

from __future__ import annotations

import json

import pytest

from voicenym.reproduction import stored_outcomes


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    """A file in place of the package's outcomes."""
    file = tmp_path / "stored" / "outcomes.json"
    file.parent.mkdir()
    for name in ("load", "store"):
        original = getattr(stored_outcomes, name)
        if name == "load":
            monkeypatch.setattr(stored_outcomes, name, lambda load=original: load(file))
        else:
            monkeypatch.setattr(
                stored_outcomes, name, lambda found, store=original: store(found, file)
            )
    return file


def test_the_list_says_what_there_is_and_what_has_been_run(command, outcomes):
    done = command("reproduce", "--list")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert rows[0] == ["paper", "table", "shows", "needs", "cost", "run"]
    found = {(row[0], row[1]): row for row in rows[1:]}
    assert found["turner-2022", "table-1"][3:] == ["--speech", "minutes", "no"]
    assert command("reproduce", "turner-2022", "table-b7", "--update", "-q").returncode == 0
    done = command("reproduce", "turner-2022", "--list")
    line = next(x for x in done.stdout.decode().splitlines() if "\ttable-b7\t" in x)
    assert "the paper's own numbers, 20" in line


def test_a_table_is_printed_stored_and_written_to_pages(command, outcomes, tmp_path):
    done = command("reproduce", "Turner 2022", "table-b7", "--update", "-o", "out")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "Proposed System, Proposed System, theta 0.9  431770.0     0.432" in text
    assert "0.864 two-sided and 0.432 one-sided" in text
    assert (tmp_path / "out" / "turner-2022-table-b7.txt").read_text() == text
    again = command("reproduce", "turner-2022", "table-b7", "--stored")
    assert again.stdout == done.stdout
    page = tmp_path / "docs" / "reproduction.md"
    assert command("reproduce", "--page", page).returncode == 0
    assert "one-sided" in page.read_text()
    assert "one-sided" in (page.parent / "reproduction" / "turner-2022.md").read_text()


def test_json_has_the_outcome(command, outcomes):
    done = command("reproduce", "turner-2022", "table-6", "--json")
    found = json.loads(done.stdout)
    assert found["turner-2022 table-6"]["findings"][0]["holds"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "voicenym reproduce --list"),
        (("smith-2020",), "there are: miao-2023"),
        (("turner-2022", "table-99"), "there are: table-1"),
        (("turner-2022", "table-1"), "--speech"),
        (("turner-2022", "table-1", "--budget", "huge"), "tiny, small, medium, full"),
        (
            ("turner-2022", "table-1", "--budget", "full", "--speech", "x"),
            "give a folder with --cache",
        ),
        (("--page", "."), "--page .: is a folder; name the first page, such as reproduction.md"),
    ],
)
def test_mistakes_are_named_with_the_cure(command, outcomes, arguments, message):
    done = command("reproduce", *arguments)
    assert done.returncode == 1
    assert message in done.stderr.decode()
    assert not outcomes.exists()


def test_an_output_that_cannot_be_written_is_refused_before_the_work(command, outcomes, tmp_path):
    (tmp_path / "out").touch()
    done = command("reproduce", "turner-2022", "table-b7", "-o", "out")
    assert done.returncode == 1
    assert "out: File exists" in done.stderr.decode()
    assert done.stdout == b"", "nothing was computed"


def test_without_a_table_all_of_a_paper_run_and_those_without_speech_are_named(command, outcomes):
    done = command("reproduce", "yao-2024", "-q")
    assert done.returncode == 0, done.stderr
    assert "Yao et al. 2024, table 5" in done.stdout.decode()
    assert "yao-2024 figure-3 is left out: yao-2024 figure-3 is measured" in done.stderr.decode()
