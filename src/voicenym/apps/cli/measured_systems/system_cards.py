"""Cards of the systems as JSON, with measured figures; the strongest attacker comes first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voicenym.apps.cli.measured_systems import measured, protection_steps
from voicenym.corpus import DEFAULT_SYSTEM

if TYPE_CHECKING:
    from voicenym.anonymizer import Declaration, Figure


def system_cards() -> list[dict[str, Any]]:
    """Cards of all systems, best protection first, those without figures last."""
    from voicenym.anonymizer import declarations

    found = [_card(one) for one in declarations(lambda name, why: None).values()]
    return sorted(found, key=_rank)


def _rank(card: dict[str, Any]) -> tuple[bool, float, str]:
    top = card["attackers"][0]["eer_percent"] if card["attackers"] else 0.0
    return not card["attackers"], -top, card["name"]


def _card(system: Declaration) -> dict[str, Any]:
    card = system.card
    step = protection_steps.step_of(card)
    figures = {}
    for name, key in (("WER", "word_error_rate_percent"), ("DNSMOS", "quality_of_5")):
        figure = measured.metric(card, name)
        before = next((one for one in card.figures_without if one.metric == name), None)
        if figure is not None:
            figures[key] = {**_figure(figure), "before": before and before.value}
    return {
        "name": card.name,
        "title": card.title,
        "is_default": card.name == DEFAULT_SYSTEM,
        "protection": step and step.name,
        "stops": step.stops if step else "nobody, as far as was measured",
        "protects": card.protects,
        "fails": list(card.fails),
        "attackers": _attackers(measured.attacks(card)),
        "attackers_live": _attackers(measured.attacks_of(card.figures_live)),
        "live_protection": measured.live_protection(system),
        "figures": figures,
        "speed": measured.speed(card),
        "live": system.streams,
        "weights": measured.weights(card),
        "usable": measured.weights(card) != "your own",
        "paper": card.paper,
        "year": card.year,
    }


def _attackers(figures: list[Figure]) -> list[dict[str, Any]]:
    return [
        {
            "attacker": measured.attacker(one),
            "condition": one.condition,
            "eer_percent": one.value,
            **_figure(one),
        }
        for one in figures
    ]


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "data": figure.data,
        "date": figure.date,
    }
