"""The table of a README: which cards stand in it, and what it says of their data."""

from __future__ import annotations

from voicenym.evaluation import card_table
from voicenym.evaluation.card_figures import ORIGINAL

DATA = "some data, 9 speakers"


def rates(value, data=DATA):
    """Figures of a card: an equal error rate alone."""
    return [
        {
            "metric": "EER", "condition": "ignorant, some verifier", "value": value, "low": None,
            "high": None, "unit": "%", "data": data, "date": "2026-11-26",
        }
    ]  # fmt: skip


def test_cards_of_other_data_are_left_out():
    cards = {ORIGINAL: rates(1.0), "vtln": rates(7.0), "recast": rates(8.0, "other, 9 speakers")}
    text = card_table.markdown(cards, DATA)
    assert "`vtln` | 7.0" in text
    assert "recast" not in text
    assert f"\n{DATA}, 2026-11-26;" in text


def test_a_system_that_leaves_some_speakers_silent_stands_beside_the_others():
    cards = {
        ORIGINAL: rates(1.0),
        "vtln": rates(7.0),
        "asr-tts": rates(40.0, "some data, 8 speakers"),
        "recast": rates(30.0, "some data, adults, 9 speakers"),
    }
    lines = card_table.markdown(cards, DATA).splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["asr-tts", "vtln"]
    assert "`asr-tts`: 8 speakers; recordings that it leaves silent are left out." in lines
    assert not any("`vtln`: " in line for line in lines)
