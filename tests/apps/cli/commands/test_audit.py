"""``voicenym audit``: content of its page, and lines that fit the terminal."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path

import pytest

pytest.importorskip("scipy")

import torch
from typer.testing import CliRunner

from voicenym import Key, load, read
from voicenym.apps.cli import app
from voicenym.apps.cli.commands.audit import page
from voicenym.apps.cli.evaluating import evaluate_libraries
from voicenym.errors import DependencyError, UnknownSystemError
from voicenym.evaluation.recording_audit import Audit, Sight

FOUND = Audit(
    sights=(Sight("key search", 4.2), Sight("ignorant", -1.0), Sight("de-noising (blur)", -9.0)),
    copied=0.25,
    pitch=(118.0, 164.0),
    tags=("title: " + "an interview " * 12,),
    seconds=(6.0, 6.5),
)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("system", [None, "recast"])
def test_the_page_fits_and_names_verdict_attackers_and_file(columns, system):
    lines = "\n".join(page(FOUND, Path("out.wav"), system, columns)).splitlines()
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert text.startswith(FOUND.verdict)
    for words in (
        *(sight.attacker for sight in FOUND.sights),
        "median 118 Hz before, 164 Hz after",
        "correlation 0.25",
        "6.00 s before, 6.50 s after",
        "title: an interview",
        "--system" if system is None else "voicenym systems recast",
    ):
        assert words in text
    assert lines[-1] == "Audited: out.wav"


@pytest.mark.parametrize(("copied", "status"), [(1.0, 1), (0.25, 0)])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_copy_is_reported_and_ends_with_a_failure(
    sample, monkeypatch, tmp_path, copied, status, options
):
    found = dataclasses.replace(FOUND, copied=copied)
    monkeypatch.setattr(
        "voicenym.evaluation.recording_audit.audit", lambda *given, **options: found
    )
    arguments = ["audit", str(sample), str(tmp_path / "out.wav"), "--verifier", "ecapa-small"]
    run = CliRunner().invoke(app, [*arguments, *options])
    assert run.exit_code == status
    if options:
        assert json.loads(run.stdout)["copied"] == copied
    else:
        assert run.stdout.startswith(found.verdict[:20])


@pytest.mark.parametrize("system", ["recast", "word-codes"])
def test_a_delay_that_changes_no_whole_recording_is_refused(sample, system):
    """As ``anonymize`` and ``evaluate`` refuse it: the figures would be named after it."""
    given = ["audit", str(sample), str(sample), "-s", f"{system}:delay=short"]
    run = CliRunner().invoke(app, given)
    assert isinstance(run.exception, UnknownSystemError)
    assert "a whole recording comes out as without it" in str(run.exception)


@pytest.mark.parametrize("system", ["pv-tsm", "vtln"])
def test_a_delay_that_changes_whole_recordings_is_audited(sample, monkeypatch, system):
    """Windows of these systems are shorter, also for a whole recording."""
    seen = []

    def audited(original, anonymized, verifiers, name, settings, **options):
        seen.append((name, settings))
        return FOUND

    monkeypatch.setattr("voicenym.evaluation.recording_audit.audit", audited)
    given = ["audit", str(sample), str(sample), "-s", f"{system}:delay=short"]
    assert CliRunner().invoke(app, [*given, "--verifier", "ecapa-small"]).exit_code == 0
    assert seen == [(system, {"delay": "short"})]
    speech, pseudonym = read(sample), Key(bytes(32)).pseudonym("anna")
    usual, short = (load(system, delay=delay)(speech, pseudonym) for delay in ("usual", "short"))
    assert not torch.equal(usual.samples, short.samples)


def test_without_the_extra_the_cure_is_named(sample, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        evaluate_libraries, "find_spec", lambda name: None if name == "scipy" else found(name)
    )
    run = CliRunner().invoke(app, ["audit", str(sample), str(sample)])
    assert isinstance(run.exception, DependencyError)
    assert "voicenym audit needs scipy: pip install 'voicenym[evaluate]'" in str(run.exception)
