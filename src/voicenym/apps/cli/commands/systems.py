"""``voicenym systems``: the systems by protection, and the card of each."""

from __future__ import annotations

import dataclasses
import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.measured_systems import measured
from voicenym.apps.cli.terminal import tables
from voicenym.apps.cli.terminal.command_group import command, new_app
from voicenym.apps.cli.terminal.tables import Column, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from voicenym.anonymizer import Declaration, Figure

app = new_app()


@command(app, "voicenym systems", "voicenym systems recast", "voicenym systems --json")
def systems(
    name: str | None = typer.Argument(None, help="Show the card of this system."),
    as_json: bool = typer.Option(False, "--json", help="Print the cards as JSON."),
) -> None:
    """List the systems and what they protect against, or show one.

    In a terminal the list is a table, the best protection first; in a pipe it is tab-separated
    values.
    """
    from voicenym.anonymizer import declaration, declarations

    def left_out(_: str, why: str) -> None:
        typer.echo(why, err=True)

    found = [declaration(name)] if name else list(declarations(left_out).values())
    if as_json:
        typer.echo(json.dumps([_card(system) for system in found], indent=2, ensure_ascii=False))
    elif name:
        for line in page(found[0], tables.width()):
            typer.echo(line)
    else:
        _list(found)


def _card(system: Declaration) -> dict[str, Any]:
    return {
        **dataclasses.asdict(system.card),
        "revisions": system.revisions,
        "judge": system.compared_by,
        "figures": [dataclasses.asdict(f) for f in system.card.figures],
        "figures_live": [dataclasses.asdict(f) for f in system.card.figures_live],
    }


# The list

COLUMNS = (
    field("system"),
    Column("EER %", lambda r: tables.interval(r["EER"], r["EER low"], r["EER high"])),
    field("attacker"),
    Column("WER %", lambda r: tables.interval(r["WER"], None, None, 0), right=True),
    Column("speed", lambda r: "" if r["speed"] is None else f"{r['speed']:.0f}x", right=True),
    field("live"),
    field("weights"),
)


def ranked(systems: Iterable[Declaration]) -> list[dict[str, Any]]:
    """Records of the systems: best protection first, systems without figures last, by name."""
    records = []
    for system in systems:
        top = measured.strongest(system.card)
        wer = measured.metric(system.card, "WER")
        speed = measured.speed(system.card)
        records.append(
            {
                "system": system.card.name,
                "EER": top and top.value,
                "EER low": top and top.low,
                "EER high": top and top.high,
                "attacker": top and measured.attacker(top),
                "WER": wer and wer.value,
                "speed": speed and float(f"{speed:.3g}"),
                "live": measured.live(system),
                "weights": measured.weights(system.card),
            }
        )
    return sorted(records, key=lambda r: (r["EER"] is None, -(r["EER"] or 0.0), r["system"]))


def _list(systems: Sequence[Declaration]) -> None:
    records = ranked(systems)
    if not tables.is_terminal():
        tables.emit(records, COLUMNS)
        return
    known = [record for record in records if record["EER"] is not None]
    others = [record["system"] for record in records if record["EER"] is None]
    notes = [
        "EER: equal error rate of the strongest attacker measured, with its 95 % interval; 50 % is "
        "chance, lower is worse. WER: words that a recogniser gets wrong. Speed: seconds of speech "
        "per second on one core. Every system works on whole files. No system stops an attacker "
        "who trains on its output."
    ]
    if others:
        notes.append(f"Not measured: {', '.join(others)}.")
    notes.append("More: voicenym systems NAME")
    tables.emit(known, COLUMNS, notes=notes)


# The card of one system

METRICS = {
    "WER": "words that a recogniser gets wrong",
    "PER": "phones that a recogniser without words gets wrong",
    "CER": "characters that a recogniser gets wrong",
    "DNSMOS": "predicted quality, 1 to 5",
    "rho_F0": "correlation of the pitch contours",
    "rho_F0 by chance": "the same for two unrelated recordings",
    "G_VD": "gain of voice distinctiveness, 0 is as before",
    "DeID": "de-identification, 1 is complete",
    "D_KS": "greatest distance of two distributions of distances",
    "SNR": "against the original waveform",
    "RTF": "processing time per time of speech, one core",
}


def page(system: Declaration, room: int) -> list[str]:
    """Lines of a system's card for a terminal of ``room`` columns."""
    card = system.card
    lines = [tables.wrapped(f"{card.name}: {card.title}", room), tables.wrapped(card.paper, room)]
    lines += [
        "",
        tables.wrapped(f"Protects against: {card.protects}", room, rest="  "),
        tables.wrapped(f"Needs: {card.needs}", room, rest="  "),
        f"Works live: {measured.live(system)}",
        tables.wrapped(
            f"Revisions: {', '.join(map(str, system.revisions))}; a new key takes the last", room
        ),
        f"Written files are compared with their originals by: {system.compared_by}",
    ]
    for title, items in (
        ("Where it fails", card.fails),
        ("Promises", card.promises),
        ("Equations and steps", card.equations),
        ("Approximations", card.approximations),
    ):
        if items:
            lines += ["", f"{title}:"]
            lines += [tables.wrapped(item, room, "  - ", "    ") for item in items]
    lines += _figures(card.figures, room, "Measured on")
    if system.streams:
        lines.append("")
        lines += [
            tables.wrapped(one[:1].upper() + one[1:] + ".", room, rest="  ")
            for one in measured.live_protection(system)
        ]
        if card.figures_live:
            lines += _figures(card.figures_live, room, "Measured live on")
    return lines


def _figures(card_figures: Sequence[Figure], room: int, head: str) -> list[str]:
    if not card_figures:
        return ["", "Measured: nothing yet; treat its protection as unknown"]
    lines: list[str] = []
    for data, group in groupby(sorted(card_figures, key=lambda f: f.data), key=lambda f: f.data):
        figures = list(group)
        dates = sorted({figure.date for figure in figures})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        heading = f"{head} {data}, {when}, with 95 % intervals."
        rates = [_attack(figure) for figure in figures if figure.metric == "EER"]
        rates.sort(key=lambda r: (r["attacker"].startswith(measured.KEY_HOLDER), r["value"]))
        attack = (
            field("attacker", prose=True),
            field("verifier", "compares with", prose=True),
            field("EER %"),
        )
        utility = [figure for figure in figures if figure.metric != "EER"]
        order = list(METRICS)
        utility.sort(key=lambda f: order.index(f.metric) if f.metric in order else len(order))
        others = [_metric(figure) for figure in utility]
        metric = (field("metric"), field("value"), field("meaning", prose=True))
        heading += " An EER of 50 % is chance." if rates else ""
        lines += ["", tables.wrapped(heading, room)]
        for records, columns in ((rates, attack), (others, metric)):
            if records:
                lines += ["", *tables.aligned(records, columns, room)]
    return lines


def _attack(figure: Figure) -> dict[str, Any]:
    attacker, _, verifier = figure.condition.partition(", ")
    if attacker == measured.KEY_HOLDER:
        attacker = f"{attacker} (has your key)"
    return {
        "attacker": attacker,
        "verifier": verifier,
        "EER %": measured.value(figure),
        "value": figure.value,
    }


def _metric(figure: Figure) -> dict[str, Any]:
    digits = 1 if figure.unit in ("%", "dB") else 4 if figure.metric == "RTF" else 2
    return {
        "metric": figure.metric,
        "value": f"{measured.value(figure, digits)} {figure.unit}".rstrip(),
        "meaning": METRICS.get(figure.metric, "") + _judge(figure),
    }


def _judge(figure: Figure) -> str:
    """Recogniser of a figure of words or phones."""
    who = figure.condition.partition(", ")[2]
    return f" ({who})" if who else ""
