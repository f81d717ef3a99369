"""The report: one HTML file that needs no network and can be printed."""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path

from voicenym.evaluation import report_details
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.figures import Shown, gallery
from voicenym.evaluation.html import grid, interval, number, sentence
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.evaluation.utility import RETRAINED
from voicenym.private import private_folder, write_private

PAGE = "index.html"
HARDLY, WEAKLY, PARTLY = 10.0, 20.0, 35.0
"""Limits of the EER in %, by the lower end of its interval."""
LISTED = 200
"""Recordings left out that the page names."""
COLUMNS = (("WER", 1), ("DNSMOS", 2), ("G_VD", 1), ("DeID", 2), ("rho_F0", 2), ("RTF", 4))
NOTED = {"WER": "words", "DNSMOS": "naturalness", "rho_F0": "intonation"}
"""What a note calls a figure that is missing."""
ANEW = f"WER {RETRAINED}"
HEADS = {ANEW: "WER, %, retrained", "WER": "WER, %", "DNSMOS": "DNSMOS, 1 to 5", "G_VD": "G_VD, dB"}

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: 0; } h2 { margin: 2rem 0 .5rem; font-size: 1.35rem; }
h3 { font-size: 1.05rem; margin: 0; }
.about { color: #555; margin-top: .3rem; }
.verdict { border-left: .4rem solid #777; padding: .5rem 1rem; margin: .7rem 0; }
.verdict { background: #f6f6f6; break-inside: avoid; }
.verdict p { margin: .2rem 0 0; }
.hardly { border-color: #b00020; } .weakly { border-color: #d55e00; }
.partly { border-color: #e69f00; } .resists { border-color: #0072b2; }
.warning { background: #fff4d6; padding: .5rem 1rem; margin: .5rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; margin: .5rem 0; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { text-align: left; padding: .35rem .5rem; vertical-align: top; }
tbody th, td { border-bottom: 1px solid #ddd; } tr { break-inside: avoid; }
thead th { border-bottom: 2px solid #777; } td.n { font-variant-numeric: tabular-nums; }
small, .range { color: #555; font-size: .88em; } .range { white-space: nowrap; }
figure { margin: 1.5rem 0; break-inside: avoid; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; color: #333; } .more { margin: .8rem 0; }
@page { margin: 15mm; }
@media print {
  :root { font-size: 11px; } body { margin: 0; padding: 0; max-width: none; }
  h2, h3 { break-after: avoid; } .wide { overflow: visible; }
  figure svg { max-height: 225mm; }
  .verdict, .warning { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def write(evaluation: Evaluation, evidence: Evidence | None, folder: Path) -> Path:
    """Write ``index.html``.

    Args:
        evaluation: what was found.
        evidence: scores and vectors to draw; None leaves out what needs them.
        folder: of the report.

    Returns:
        The page.
    """
    private_folder(folder)
    page = folder / PAGE
    write_private(page, html(evaluation, evidence))
    return page


def html(evaluation: Evaluation, evidence: Evidence | None) -> str:
    """The page's text."""
    common = _common(evaluation)
    warnings = [f'<p class="warning">{sentence(w)}</p>' for w in (*evaluation.warnings, *common)]
    drawn = [_drawn(n, shown) for n, shown in enumerate(gallery(evaluation, evidence))]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Voice protection: {escape(evaluation.data)}</title>",
        f"<style>{STYLE}</style></head><body><main>",
        "<h1>How well are these voices protected?</h1>",
        f'<p class="about">{escape(evaluation.data)}: {evaluation.speakers} speakers, '
        f"{evaluation.recordings} recordings tried. voicenym {escape(evaluation.version)}, "
        f"{escape(evaluation.date)}. {escape(evaluation.settings)}</p>",
        *warnings,
        "<h2>Verdict</h2>",
        *(_verdict(system, common) for system in evaluation.systems),
        "<h2>At a glance</h2>",
        _table(evaluation),
        *_missing(evaluation),
        "<p><small>In brackets: 95 % intervals over speakers. EER: share of errors where as many "
        "impostors are accepted as genuine trials are refused; 50 % is a guess. The strongest "
        "attacker is the one with the lowest EER that has no key; of many attackers one is the "
        "lowest by luck too, so take the interval, not the figure. WER: words that a recogniser "
        "misses; DNSMOS: how natural it sounds, predicted; both with their change from the "
        "original's. G_VD: whether people stay apart (0 dB: as before); DeID: 1 is unlike the "
        "original; rho_F0: melody kept; RTF: computing time as a share of the duration."
        f"{_retrained(evaluation)}"
        "</small></p>",
        *_left_out(evaluation),
        "<h2>Figures</h2>",
        *drawn,
        *report_details.utility(evaluation),
        "<h2>All attackers</h2>",
        *report_details.attackers(evaluation),
        *(_attacks(system.name, system.attacks) for system in evaluation.systems),
        _attacks("original speech", evaluation.unprotected),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def grade(system: SystemResults) -> tuple[str, str]:
    """Class and word of a verdict, by the lower end of the strongest attacker's interval."""
    eer = system.strongest.eer
    low = eer.value if eer.low is None else eer.low
    for limit, name, word in (
        (HARDLY, "hardly", "hardly protected"),
        (WEAKLY, "weakly", "weakly protected"),
        (PARTLY, "partly", "partly protected"),
    ):
        if low < limit:
            return name, word
    return "resists", "resists the attackers tried here"


def bounded(system: SystemResults) -> bool:
    """Whether notes say that attackers were not tried, so that figures are upper bounds."""
    return any("not tried" in note or "upper bound" in note for note in system.notes)


def _common(evaluation: Evaluation) -> list[str]:
    """Notes that hold for all of several systems, said once."""
    first, *rest = [system.notes for system in evaluation.systems] or [()]
    return [note for note in first if rest and all(note in notes for notes in rest)]


def _verdict(system: SystemResults, said: list[str]) -> str:
    name = escape(system.name)
    if all(a.holds_key for a in system.attacks):
        why = "".join(f"<p><small>{sentence(n)}</small></p>" for n in system.notes)
        return f'<div class="verdict"><h3>{name}: not attacked</h3>{why}</div>'
    style, word = grade(system)
    top = system.strongest
    who, what = _knows(top)
    eer = f"<b>{number(top.eer.value, 1)}&nbsp;%</b> of cases"
    if top.eer.low is not None and top.eer.high is not None:
        limits = f"{number(top.eer.low, 1)} to {number(top.eer.high, 1)}&nbsp;%"
        eer += f" ({limits})"
    tried = f"the strongest tried: {escape(top.attacker)}, {escape(top.verifier)}"
    said_of_it = [
        f'<div class="verdict {style}"><h3>{name}: {word}</h3>',
        f"<p><small>{sentence(system.title)}</small></p>" if system.title else "",
        f"<p>{who} mistakes one voice for another in {eer}; 50 % would be a guess. "
        f"({tried[:1].upper()}{tried[1:]}{what}.)</p>",
        f"<p>{_advice(style, who)}{_bound(system)}{_lost(system)}</p>",
    ]
    said_of_it += report_details.weighted(system)
    if system.exposed:
        worst = system.exposed[0]
        always = sum(e.found == 1.0 for e in system.exposed)
        said_of_it.append(
            f"<p>Least protected: {escape(worst.speaker)}, first guess in {100 * worst.found:.0f} "
            f"% of trials. Speakers who are always the first guess: {always} of "
            f"{len(system.exposed)}.</p>"
        )
    if system.left_out:
        said_of_it.append(
            f"<p><b>It failed on {_trials(system.left_out)}</b>, which no figure counts (see Left "
            "out).</p>"
        )
    notes = [note for note in system.notes if note not in said]
    said_of_it += [f"<p><small>{sentence(note)}</small></p>" for note in notes]
    return "\n".join([*filter(None, said_of_it), "</div>"])


def _knows(attack: AttackFigures) -> tuple[str, str]:
    """Who the attacker is, and what it does: ``knows X; does Y`` in two."""
    known, _, does = attack.knows.partition(";")
    does = f", which {escape(does.strip())}" if does.strip() else ""
    if not known.startswith(("knows ", "does ", "has ")):
        return "The strongest attacker", f", {escape(attack.knows)}"
    return f"An attacker who {escape(re.sub(', not ', ' but not ', known, count=1))}", does


def _advice(style: str, who: str) -> str:
    against = who[:1].lower() + who[1:]
    if style in ("hardly", "weakly"):
        return f"Do not rely on it against {against} and has other recordings of the speaker."
    if style == "partly":
        return f"Do not rely on it alone against {against}: it finds some speakers again."
    return "That is no proof: an attacker who was not tried may do better."


def _bound(system: SystemResults) -> str:
    if not bounded(system):
        return ""
    return " The figure is an upper bound on protection: attackers were left out (see the notes)."


def _lost(system: SystemResults) -> str:
    held = _held(system)
    if held is None:
        return ""
    return f" If the key is lost, {number(held.value, 1)}&nbsp;% remain."


def _held(system: SystemResults) -> Measured | None:
    """EER of the best attacker that has the key."""
    return min((a.eer for a in system.attacks if a.holds_key), key=lambda m: m.value, default=None)


def _retrained(evaluation: Evaluation) -> str:
    """What the column says, where it is there."""
    if not any(ANEW in system.utility for system in evaluation.systems):
        return ""
    return " Retrained: heard by a recogniser that learnt from this system's output."


def _table(evaluation: Evaluation) -> str:
    heads = ["EER %, strongest attacker", "which attacker", "EER %, key lost"]
    columns: tuple[tuple[str, int], ...] = COLUMNS
    if _retrained(evaluation):
        columns = (*COLUMNS, (ANEW, 1))
    heads += [HEADS.get(metric, metric) for metric, _ in columns]
    rows = []
    if evaluation.unprotected:
        bare = min(evaluation.unprotected, key=lambda a: a.eer.value)
        cells = [
            interval(evaluation.utility.get(m), d) if m in ("WER", "DNSMOS") else "–"
            for m, d in columns
        ]
        rows.append(["(original)", interval(bare.eer), _named(bare), "–", *cells])
    for system in evaluation.systems:
        if all(a.holds_key for a in system.attacks):
            top = ["not measured", "none"]
        else:
            eer = interval(system.strongest.eer)
            if bounded(system):
                eer += "<br><small>upper bound</small>"
            if system.left_out:
                eer += f"<br><small>it failed on {_trials(system.left_out)}</small>"
            top = [eer, _named(system.strongest)]
        row = [escape(system.name), *top, interval(_held(system))]
        rows.append([*row, *(_change(system, evaluation, m, d) for m, d in columns)])
    return grid("Privacy and utility of each system", ["system", *heads], rows)


def _trials(count: int) -> str:
    return f"{count} trial{'s' if count != 1 else ''}"


def _named(attack: AttackFigures) -> str:
    return f"{escape(attack.attacker)}<br><small>{escape(attack.verifier)}</small>"


def _change(system: SystemResults, evaluation: Evaluation, metric: str, digits: int) -> str:
    """A figure, and how far it is from the original's."""
    found, before = system.utility.get(metric), evaluation.utility.get(metric)
    text = interval(found, digits)
    if found is not None and before is not None and math.isfinite(found.value - before.value):
        text += f"<br><small>{number(found.value - before.value, digits, '+')}</small>"
    return text


def _left_out(evaluation: Evaluation) -> list[str]:
    """Recordings of which no figure says anything."""
    if not evaluation.left_out:
        return []
    items = [
        f"<li>{escape(f'{one.step}: ' if one.step else '')}{escape(one.name)}: "
        f"{sentence(one.reason)}</li>"
        for one in evaluation.left_out[:LISTED]
    ]
    rest = len(evaluation.left_out) - LISTED
    if rest > 0:
        items.append(f"<li>and {rest} more, in results.json</li>")
    count = len(evaluation.left_out)
    head = f"{count} recording{'s were' if count != 1 else ' was'} left out; no figure counts them:"
    return ["<h2>Left out</h2>", f'<p>{head}</p><ul class="about">{"".join(items)}</ul>']


def _missing(evaluation: Evaluation) -> list[str]:
    """What was not measured, and why, as far as notes say."""
    said = []
    for system in evaluation.systems:
        absent: dict[str, list[str]] = {}
        for metric, _ in COLUMNS:
            if metric not in system.utility:
                word = NOTED.get(metric, metric)
                notes = (*system.notes, *evaluation.warnings)
                why = next((n for n in notes if word in n and "not measured" in n), "")
                absent.setdefault(why, []).append(metric)
        if _held(system) is None:
            absent.setdefault("", []).append("EER if the key is lost")
        for why, metrics in absent.items():
            reason = why or "no reason was noted"
            said.append(f"{system.name}, {', '.join(metrics)}: {reason}")
    items = "".join(f"<li>{sentence(line)}</li>" for line in said)
    return [f'<p>Not measured:</p><ul class="about">{items}</ul>'] if said else []


def _attacks(name: str, attacks: tuple[AttackFigures, ...]) -> str:
    if not attacks:
        return ""
    metrics = list(dict.fromkeys(m for a in attacks for m in a.figures if m != "EER"))
    rows = []
    for attack in sorted(attacks, key=lambda a: a.eer.value):
        who = _named(attack) + (" <small>(has the key)</small>" if attack.holds_key else "")
        cells = [interval(attack.figures.get(m), 2, "–") for m in metrics]
        rows.append([who, interval(attack.eer), *cells, escape(attack.tag)])
    trials = f"{attacks[0].targets} target and {attacks[0].nontargets} non-target trials"
    heads = ["attacker", "EER %", *metrics, "tag"]
    return f'<div class="more">{grid(f"{name}: {trials}", heads, rows)}</div>'


def _drawn(number: int, shown: Shown) -> str:
    """A figure whose ids no other on the page has, and which names no address."""
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", shown.svg)
    svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"f{number}-", svg)
    label = escape(f"{shown.title}. {shown.alt}")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return (
        f"<figure><h3>{escape(shown.title)}</h3>{svg}"
        f"<figcaption>{escape(shown.how)}</figcaption></figure>"
    )
