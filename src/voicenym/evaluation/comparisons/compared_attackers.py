"""Attackers that ran in one report and not in another: their error rates are no fair match."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from voicenym.evaluation.results import Evaluation

Ran = tuple[str, str]
"""An attacker and its verifier."""

NAMED = 4
"""Most attackers that a sentence names."""
ALIKE = 1.1
"""Ratio of two numbers of recordings up to which they count as equal: some may be left out."""


def by_access(name: str, evaluation: Evaluation) -> list[tuple[str, Evaluation]]:
    """A report, or its systems and its files as two: attackers could not run what made the files.

    Args:
        name: of the report.
        evaluation: its results.
    """
    files = tuple(system for system in evaluation.systems if system.files)
    systems = tuple(system for system in evaluation.systems if not system.files)
    if not files or not systems:
        return [(name, evaluation)]
    return [
        (name, replace(evaluation, systems=systems)),
        *((f"{name}: {one.name}", replace(evaluation, systems=(one,))) for one in files),
    ]


def lacking(reports: Sequence[tuple[str, Evaluation]]) -> dict[str, str]:
    """Sentences on reports with fewer attackers than others, or with less to learn from, by name.

    A system that was attacked less may have a higher error rate for that, whatever it protects.

    Args:
        reports: names and evaluations.
    """
    found: dict[str, str] = {}
    ran = {name: _ran(evaluation) for name, evaluation in reports}
    for name, own in ran.items():
        missing = {who for other in ran.values() for who in other} - set(own)
        said = [f"without {_listed(missing, own)}"] if missing and own else []
        most = max((other[who] for other in ran.values() for who in own if who in other), default=0)
        least = max(own.values(), default=0)
        if most > ALIKE * least > 0:
            said.append(f"with {least:,} recordings to learn from, elsewhere {most:,}")
        if said:
            found[name] = (
                f"{name} was attacked {' and '.join(said)}: its EERs may be too kind in comparison."
            )
    return found


def _ran(evaluation: Evaluation) -> Mapping[Ran, int]:
    """Attackers without the key on any system, with the recordings that they learned from."""
    found: dict[Ran, int] = {}
    for system in evaluation.systems:
        for attack in system.attacks:
            if not attack.holds_key:
                who = attack.attacker, attack.verifier
                found[who] = max(found.get(who, 0), attack.learned_from)
    return found


def _listed(missing: Collection[Ran], own: Collection[Ran]) -> str:
    """Attackers by kind; by their verifiers where the kind ran with others."""
    kinds = {_kind(who) for who in own}
    names = sorted({_kind(who) if _kind(who) not in kinds else ", ".join(who) for who in missing})
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _kind(who: Ran) -> str:
    """An attacker without what it is made of: de-noising (mp3) is de-noising."""
    return who[0].partition(" (")[0] if who[0].startswith("de-noising") else who[0]
