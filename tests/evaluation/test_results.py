"""Result files: those of earlier releases are read, with present names of attackers."""

from __future__ import annotations

import json

import pytest

from voicenym.attack.former_names import FORMER
from voicenym.errors import VoicenymError
from voicenym.evaluation import results_file
from voicenym.evaluation.results import Measured, below_chance


def test_results_with_former_names_are_read(found, tmp_path):
    evaluation = found[0]
    results_file.save(evaluation, tmp_path)
    file = next(tmp_path.glob("*.json"))
    data = json.loads(file.read_text("utf-8"))
    before = list(FORMER)
    attack = data["systems"][0]["attacks"][0]
    attack["attacker"], attack["verifier"] = before[1], before[3]
    file.write_text(json.dumps(data), "utf-8")
    again = results_file.load(tmp_path).systems[0].attacks
    assert (again[0].attacker, again[0].verifier) == (FORMER[before[1]], FORMER[before[3]])
    assert again[1:] == evaluation.systems[0].attacks[1:]


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 1', "7", "\0"])
def test_another_file_is_refused_in_our_own_words(text, tmp_path):
    (tmp_path / results_file.RESULTS).write_text(text)
    with pytest.raises(VoicenymError, match="give a folder that it wrote") as caught:
        results_file.load(tmp_path)
    assert "Error" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "high", "below"),
    [(0.0, 56.1, True), (0.0, 0.0, True), (20.0, 49.9, True), (20.0, 50.0, False)],
)
def test_an_attacker_without_an_error_is_below_chance_with_few_speakers_too(value, high, below):
    """Wilson's interval of none of three speakers ends at 56.1 %."""
    assert below_chance(Measured(value, 0.0, high, "%")) is below
