"""Table of the protection of live streams beside that of whole recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voicenym.anonymizer.card import attackers_in, live_form
from voicenym.attack.attackers import KeyHolder
from voicenym.evaluation.reported_metrics import headline

BEGIN, END = "<!-- live figures: voicenym cards --update -->", "<!-- end of live figures -->"

Row = Mapping[str, Any]


def markdown(cards: Mapping[str, Sequence[Row]]) -> str:
    """Table of the systems whose live form was measured, the best protection first.

    Attackers differ in number where not all ran on the live form. Then the strongest of those that
    did ran on whole recordings, too, and is compared with itself there.

    Args:
        cards: figures by system and live form, as :func:`voicenym.evaluation.card_figures.write`
            stores them.
    """
    lines = [
        "| system | live: EER %, strongest attacker | which | attackers | whole recordings: these "
        "attackers | all attackers | which | attackers |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    found = {name: rates_without_key(cards.get(live_form(name), ())) for name in cards}
    measured = {name: rates for name, rates in found.items() if rates}
    for name, rates in sorted(measured.items(), key=lambda item: -float(item[1][0]["value"])):
        whole = rates_without_key(cards[name])
        ran = {row["condition"] for row in rates}
        same = [row for row in whole if row["condition"] in ran]
        lines.append(
            f"| `{name}` | {_cell(rates)} | {_who(rates)} | {_count(rates)} | {_cell(same)} | "
            f"{_cell(whole)} | {_who(whole)} | {_count(whole)} |"
        )
    rows = [row for rates in measured.values() for row in rates]
    if rows:
        dates = sorted({row["date"] for row in rows})
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        data = "; ".join(sorted({row["data"] for row in rows}))
        lines.append(f"\n{data}; live {when}; 95 % intervals over speakers; 50 % is chance.")
    return "\n".join(lines)


def rates_without_key(rows: Sequence[Row]) -> list[Row]:
    """Rates of the attackers without the key, the strongest first."""
    found = [
        row
        for row in rows
        if row["metric"] == headline().name and not row["condition"].startswith(KeyHolder.name)
    ]
    return sorted(found, key=lambda row: float(row["value"]))


def _cell(rates: Sequence[Row]) -> str:
    if not rates:
        return "not measured"
    first = rates[0]
    return f"{first['value']:.1f} ({first['low']:.1f}–{first['high']:.1f})"


def _count(rates: Sequence[Row]) -> int:
    return attackers_in(row["condition"] for row in rates)


def _who(rates: Sequence[Row]) -> str:
    return rates[0]["condition"].partition(",")[0] if rates else ""
