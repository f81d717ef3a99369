"""Sentence on the channels that identify speakers."""

from __future__ import annotations

import pytest

from voicenym.attack.attacker_channels import CHANNELS, SEVERAL, channel_of
from voicenym.attack.attacker_list import ATTACKERS
from voicenym.evaluation.leaking_channels import SHARED_TEXTS, leaks, sentences
from voicenym.evaluation.results import AttackFigures, Measured


def attack(name: str, value: float, high: float | None = None, key: bool = False) -> AttackFigures:
    high = value + 4.0 if high is None else high
    figures = {"EER": Measured(value, value - 4.0, high, "%")}
    return AttackFigures(name, "", "verifier", figures, "A", 10, 90, key)


def test_every_attacker_has_a_channel():
    for name in ATTACKERS:
        assert ATTACKERS.get(name).channel in (*CHANNELS, SEVERAL)
    assert channel_of("semi-informed (prosody trained)") == "prosody"
    assert channel_of("semi-informed (words trained)") == "words"
    assert channel_of("semi-informed (content trained)") == "content"
    assert channel_of("semi-informed (all channels fused)") == SEVERAL
    assert channel_of("something of another release") == "voice"


def test_the_strongest_of_each_channel_is_named_in_order():
    attacks = [
        attack("lazy-informed", 33.0),
        attack("key-holder", 1.0, key=True),
        attack("semi-informed (room trained)", 14.2),
        attack("semi-informed (words trained)", 48.0, 53.0),
        attack("semi-informed (i-vectors trained)", 21.0),
        attack("semi-informed (all channels fused)", 9.0),
    ]
    assert leaks(attacks)["voice"].eer.value == 21.0
    printed, texts = sentences(attacks)
    assert printed == (
        "what leaks, by the EER of each channel's best attacker: room 14.2 %, voice 21.0 %, words "
        "48.0 %, not below chance; fused 9.0 %; room leaks most"
    )
    assert texts == SHARED_TEXTS


@pytest.mark.parametrize("names", [["lazy-informed", "ignorant"], ["semi-informed (room trained)"]])
def test_one_channel_needs_no_sentence(names):
    assert sentences([attack(name, 20.0) for name in names]) == ()
