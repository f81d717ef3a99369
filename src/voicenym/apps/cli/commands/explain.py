"""``voicenym explain``: the steps of protection, with the figures of this installation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.measured_systems import measured, protection_steps
from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.corpus import DEFAULT_SYSTEM

if TYPE_CHECKING:
    from voicenym.anonymizer import Card

app = new_app()


LANGUAGES = "other languages"
"""Words of a card's limit on languages, which decides whether a system suits a recording."""


@command(app, "voicenym explain", "voicenym explain --json")
def explain(as_json: bool = typer.Option(False, "--json", help="Print the steps as JSON.")) -> None:
    """Explain what protects against whom, and at what price.

    Each step of --protection names who is stopped, the system that earns it by measured figures
    with the fewest lost words, and its price.
    """
    from voicenym.anonymizer import declarations

    def left_out(_: str, why: str) -> None:
        typer.echo(why, err=True)

    cards = [found.card for found in declarations(left_out).values()]
    records = [_record(step, cards) for step in protection_steps.LADDER]
    if as_json:
        typer.echo(json.dumps(records, indent=2, ensure_ascii=False))
        return
    room = tables.width()
    for record in records:
        for line in _lines(record):
            typer.echo(tables.wrapped(line, room, rest="  "))
        typer.echo()
    default = next((card for card in cards if card.name == DEFAULT_SYSTEM), None)
    earned = None if default is None else protection_steps.step_of(default)
    used = "no step" if earned is None else f"step {earned.name}"
    notes = (
        f"Without --protection or --system, {DEFAULT_SYSTEM} is used: {used}.",
        "EER: equal error rate of an attacker, 50 % is chance. No listeners were asked: what "
        "people recognise is judged by the verifier that does not know.",
        "If a life depends on it, publish a transcript that somebody else reads.",
    )
    for note in notes:
        typer.echo(tables.wrapped(note, room))


def _record(step: protection_steps.Step, cards: list[Card]) -> dict[str, Any]:
    """What is known of a step."""
    found = protection_steps.suited(cards, step)
    record: dict[str, Any] = {
        "protection": step.name,
        "stops": step.stops,
        "least EER %, ignorant": step.ignorant,
        "least EER %, strongest": step.strongest,
        "system": found[0].name if found else None,
        "also": [card.name for card in found[1:]],
    }
    if found:
        card = found[0]
        top = measured.strongest(card)
        before = {figure.metric: figure.value for figure in card.figures_without}
        record |= {
            "EER %": top and top.value,
            "attacker": top and measured.attacker(top),
            "EER %, ignorant": protection_steps.ignorant(card),
            "speed": measured.speed(card),
        }
        for metric in ("WER", "DNSMOS"):
            value = measured.metric(card, metric)
            record[metric] = value and value.value
            record[f"{metric} before"] = before.get(metric)
        record["limits"] = card.fails[0]
        record["languages"] = next((text for text in card.fails if LANGUAGES in text), None)
    return record


def _lines(record: dict[str, Any]) -> list[str]:
    """Lines of a step for a terminal."""
    lines = [f"{record['protection']}: stops {record['stops']}"]
    if record["system"] is None:
        return [
            *lines,
            f"  not offered: no system here has an EER of {record['least EER %, strongest']:g} % "
            "against the strongest attacker measured, at the lower end of the interval",
        ]
    lines.append(
        f"  {record['system']}: EER {record['EER %']:.1f} % against {record['attacker']}, the "
        f"strongest measured; {record['EER %, ignorant']:.1f} % against a verifier that does not "
        "know"
    )
    prices = []
    if record["WER"] is not None:
        prices.append(f"{record['WER']:.0f} % of words wrong ({_before(record, 'WER', 0)} before)")
    if record["DNSMOS"] is not None:
        prices.append(f"quality {record['DNSMOS']:.1f} of 5 ({_before(record, 'DNSMOS', 1)})")
    if record["speed"]:
        prices.append(f"{record['speed']:.0f} seconds of speech a second of one core")
    if prices:
        lines.append(f"  price: {', '.join(prices)}")
    lines.append(f"  limits: {record['limits']}")
    if record["languages"]:
        lines.append(f"  languages: {record['languages']}")
    if record["also"]:
        lines.append(f"  also: {', '.join(record['also'])}")
    return lines


def _before(record: dict[str, Any], metric: str, digits: int) -> str:
    value = record[f"{metric} before"]
    return "not measured" if value is None else f"{value:.{digits}f}"
