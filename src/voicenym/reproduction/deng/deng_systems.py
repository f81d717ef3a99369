"""Systems and verifiers of Deng et al. 2023, and what stands for them here."""

from __future__ import annotations

from voicenym.reproduction.bench import Bench
from voicenym.verification.voice_statistics import VoiceStatistics

PAPER = "deng-2023"
OURS = "V-CLOAK"
CLOAK = "vcloak:epsilon=0.1"
UNTARGETED = f"{CLOAK},untargeted=true"
SYSTEMS = {"NSF": "b1a", "HFGAN": "ssl-select", "McAdams": "mcadams", "VoiceMask": "vtln"}
"""Counterparts of the compared systems, by the paper's names."""
COMMERCIAL = "iFlytek's recogniser of speakers is a commercial service"
GIVE = {
    "XV": "give --verifier FOLDER of x-vectors, of voicenym train verifier",
    "GMM": "give --verifier gmm-ubm:FOLDER, of voicenym train ubm",
    "IV": "give --verifier ivector:FOLDER, of voicenym train ivector",
    "IF": COMMERCIAL,
    "DP": "give --verifier FOLDER of a DeepSpeaker, of voicenym train verifier",
}
"""How to get a verifier of the paper that is not among those given."""


def attacking(bench: Bench, system: str = "mcadams") -> list[str]:
    """Names of the verifiers in a measurement, without voice statistics."""
    found = bench.measured(system)
    if isinstance(found, str):
        return []
    attacks = found.evaluation.unprotected
    return list(dict.fromkeys(a.verifier for a in attacks if a.attacker == "unprotected"
                              and a.verifier != VoiceStatistics().name))  # fmt: skip


def kind_of(verifier: str) -> str:
    """The paper's verifier of the same kind; empty for none.

    Verifiers that were trained here have the name of their folder, such as ``xvector``.
    """
    kinds = {"EP": "ecapa", "XV": "xvector", "GMM": "gmm", "IV": "ivector"}
    name = verifier.lower().replace("-", "")
    return next((k for k, word in kinds.items() if word in name), "")


def lacking(bench: Bench, kinds: tuple[str, ...] = ("XV", "GMM", "IV", "IF")) -> tuple[str, ...]:
    """The paper's verifiers without one here, and what to give."""
    there = {kind_of(name) for name in attacking(bench)}
    return tuple(f"{one} is missing: {GIVE[one]}" for one in kinds if one not in there)
