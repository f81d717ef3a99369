"""``voicenym audit``: content of its page, and lines that fit the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("scipy")

from voicenym.apps.cli.audit import page
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
