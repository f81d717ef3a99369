"""Summary of channels: the strongest attacker of each, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.attack.attacker_channels import CHANNELS, SEVERAL, channel_of
from voicenym.evaluation.results import AttackFigures

SHARED_TEXTS = (
    "the texts of read corpora are chosen by their makers and often shared, so that the figure of "
    "words says little about people who speak freely"
)


def leaks(attacks: Sequence[AttackFigures]) -> dict[str, AttackFigures]:
    """The strongest attack without the key by channel, fusions among them, lowest EER first.

    Broken attacks are left out.
    """
    found: dict[str, AttackFigures] = {}
    for attack in sorted(attacks, key=lambda a: a.eer.value):
        if not (attack.holds_key or attack.broken):
            found.setdefault(channel_of(attack.attacker), attack)
    return found


def sentences(attacks: Sequence[AttackFigures]) -> tuple[str, ...]:
    """Notes of the report on the channels; none if only one channel was attacked."""
    found = leaks(attacks)
    single = {channel: attack for channel, attack in found.items() if channel in CHANNELS}
    if len(single) < 2:
        return ()
    parts = []
    for channel, attack in single.items():
        high = attack.eer.value if attack.eer.high is None else attack.eer.high
        chance = ", not below chance" if high >= 50.0 else ""
        parts.append(f"{channel} {attack.eer.value:.1f} %{chance}")
    first = next(iter(single))
    fused = f"; fused {found[SEVERAL].eer.value:.1f} %" if SEVERAL in found else ""
    sentence = (
        f"what leaks, by the EER of each channel's best attacker: {', '.join(parts)}{fused}; "
    )
    return (f"{sentence}{first} leaks most", *((SHARED_TEXTS,) if "words" in single else ()))
