"""The report: one HTML file that needs no network and can be printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from voicenym.benchmark import figures
from voicenym.benchmark.protocol import Evidence
from voicenym.benchmark.results import AttackFigures, Evaluation, Measured, SystemResults

PAGE = "index.html"
HARDLY, WEAKLY, PARTLY = 10.0, 20.0, 35.0
"""Limits of the EER in %, by the lower end of its interval."""

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; }
body { max-width: 62rem; margin: 2rem auto; padding: 0 1rem; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: 0; } h2 { margin-top: 2.5rem; }
.about { color: #555; margin-top: .3rem; }
.verdict { border-left: .4rem solid #777; padding: .6rem 1rem; margin: 1rem 0; }
.verdict { background: #f6f6f6; }
.verdict h3 { margin: 0; } .verdict p { margin: .3rem 0 0; }
.hardly { border-color: #b00020; } .weakly { border-color: #d55e00; }
.partly { border-color: #e69f00; } .resists { border-color: #0072b2; }
.warning { background: #fff4d6; padding: .5rem 1rem; margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; margin: 1rem 0; }
th, td { text-align: left; padding: .35rem .5rem; vertical-align: top; }
td { border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #777; } td.n { font-variant-numeric: tabular-nums; }
small, .range { color: #555; font-size: .85em; } .range { white-space: nowrap; }
figure { margin: 1.5rem 0; break-inside: avoid; } figure svg { width: 100%; height: auto; }
figcaption { font-size: .9rem; color: #333; } details { margin: .5rem 0; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } h2 { break-after: avoid; }
  details > * { display: block; } }
"""


@dataclass(frozen=True)
class _Figure:
    title: str
    how: str
    svg: str


def write(evaluation: Evaluation, evidence: Evidence | None, folder: Path) -> Path:
    """Write ``index.html``.

    Args:
        evaluation: what was found.
        evidence: scores and vectors to draw; None leaves out what needs them.
        folder: of the report.

    Returns:
        The page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / PAGE
    temporary = folder / f".{PAGE}.tmp"
    temporary.write_text(html(evaluation, evidence), "utf-8")
    temporary.replace(page)
    return page


def html(evaluation: Evaluation, evidence: Evidence | None) -> str:
    """The page's text."""
    drawn = [_drawn(f) for f in _figures(evaluation, evidence)]
    warnings = [f'<p class="warning">{escape(w)}.</p>' for w in evaluation.warnings]
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Voice protection: {escape(evaluation.data)}</title>",
        f"<style>{STYLE}</style></head><body>",
        "<h1>How well are these voices protected?</h1>",
        f'<p class="about">{escape(evaluation.data)}: {evaluation.speakers} speakers, '
        f"{evaluation.recordings} recordings tried. voicenym {escape(evaluation.version)}, "
        f"{escape(evaluation.date)}.</p>",
        *warnings,
        *map(_verdict, evaluation.systems),
        "<h2>At a glance</h2>",
        _table(evaluation),
        "<p><small>In brackets: 95 % intervals over speakers. EER: share of errors where as many "
        "impostors are accepted as genuine trials are refused; 50 % is a guess. The strongest "
        "attacker is the one with the lowest EER that has no key; of many attackers one is the "
        "lowest by luck too, so take the interval, not the figure. WER, DNSMOS: what a recogniser "
        "understands, and how natural it sounds (1 to 5); G_VD: whether people stay apart (0 dB: "
        "as before); DeID: 1 is unlike the original; rho_F0: melody kept; RTF: computing time as "
        "a share of the duration.</small></p>",
        "<h2>Figures</h2>",
        *drawn,
        "<h2>All attackers</h2>",
        *(_attacks(system.name, system.attacks) for system in evaluation.systems),
        _attacks("original speech", evaluation.unprotected),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def grade(system: SystemResults) -> tuple[str, str]:
    """Class and word of a verdict, by the lower end of the strongest attacker's interval."""
    eer = system.strongest.eer
    low = eer.value if eer.low is None else eer.low
    for limit, name, word in (
        (HARDLY, "hardly", "hardly protects"),
        (WEAKLY, "weakly", "weakly protects"),
        (PARTLY, "partly", "partly protects"),
    ):
        if low < limit:
            return name, word
    return "resists", "resists the attackers tried here"


def _verdict(system: SystemResults) -> str:
    name, word = grade(system)
    top = system.strongest
    lines = [
        f'<div class="verdict {name}"><h3>{escape(system.name)} {word}</h3>',
        f"<p>{escape(system.title)}.</p>",
        f"<p>The strongest attacker here ({escape(top.attacker)}, {escape(top.verifier)}) "
        f"{escape(top.knows)}. It mistakes one voice for another in <b>{_interval(top.eer)} %</b> "
        "of cases; 50 % would be a guess.</p>",
    ]
    held = [a for a in system.attacks if a.holds_key]
    if held:
        lost = min(held, key=lambda a: a.eer.value)
        lines.append(f"<p>If the key is lost: {_interval(lost.eer)} %.</p>")
    if system.exposed:
        worst = system.exposed[0]
        always = sum(e.found == 1.0 for e in system.exposed)
        lines.append(
            f"<p>Least protected: {escape(worst.speaker)}, first guess in {100 * worst.found:.0f} "
            f"% of trials. {always} of {len(system.exposed)} speakers are always the first "
            "guess.</p>"
        )
    lines += [f"<p><small>{escape(note)}.</small></p>" for note in system.notes]
    return "\n".join([*lines, "</div>"])


def _interval(m: Measured | None, digits: int = 1) -> str:
    if m is None:
        return "not measured"
    text = _number(m.value, digits)
    if m.low is not None and m.high is not None:
        text += (
            f' <span class="range">({_number(m.low, digits)} to {_number(m.high, digits)})</span>'
        )
    return text


def _number(value: float, digits: int) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{value:.{digits}f}" if math.isfinite(value) else ("∞" if value > 0 else "−∞")


COLUMNS = (("WER", 1), ("DNSMOS", 2), ("G_VD", 1), ("DeID", 2), ("rho_F0", 2), ("RTF", 4))


def _table(evaluation: Evaluation) -> str:
    heads = ["system", "EER %, strongest attacker", "which", "EER %, key lost"]
    heads += [metric for metric, _ in COLUMNS]
    bare = min(evaluation.unprotected, key=lambda a: a.eer.value)
    rows = [["(original)", _interval(bare.eer), "no protection", ""]]
    rows[0] += [
        _interval(evaluation.utility[m], d) if m in evaluation.utility else "" for m, d in COLUMNS
    ]
    for system in evaluation.systems:
        held = [a.eer for a in system.attacks if a.holds_key]
        lost = min(held, key=lambda m: m.value) if held else None
        row = [
            escape(system.name),
            _interval(system.strongest.eer),
            escape(system.strongest.attacker),
            _interval(lost),
        ]
        rows.append([*row, *(_change(system, evaluation, m, d) for m, d in COLUMNS)])
    body = "".join(
        "<tr>" + "".join(f'<td class="n">{cell}</td>' for cell in row) + "</tr>" for row in rows
    )
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _change(system: SystemResults, evaluation: Evaluation, metric: str, digits: int) -> str:
    """A figure, and how far it is from the original's."""
    found = system.utility.get(metric)
    text = _interval(found, digits)
    if found is not None and metric in evaluation.utility:
        text += f"<br><small>{found.value - evaluation.utility[metric].value:+.{digits}f}</small>"
    return text


def _attacks(name: str, attacks: tuple[AttackFigures, ...]) -> str:
    metrics = [m for m in (attacks[0].figures if attacks else {}) if m != "EER"]
    head = "".join(
        f'<th scope="col">{escape(h)}</th>' for h in ("attacker", "EER %", *metrics, "tag")
    )
    rows = []
    for attack in sorted(attacks, key=lambda a: a.eer.value):
        who = f"{escape(attack.attacker)}<br><small>{escape(attack.verifier)}</small>"
        cells = [_interval(attack.eer)]
        cells += [_interval(attack.figures.get(m), 2) for m in metrics]
        rows.append(
            f"<tr><td>{who}</td>"
            + "".join(f'<td class="n">{c}</td>' for c in (*cells, escape(attack.tag)))
            + "</tr>"
        )
    trials = f"{attacks[0].targets} target and {attacks[0].nontargets} non-target trials"
    return (
        f"<details open><summary>{escape(name)}: {trials}</summary><table><thead><tr>{head}</tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table></details>"
    )


def _drawn(figure: _Figure) -> str:
    labelled = figure.svg.replace(
        "<svg", f'<svg role="img" aria-label="{escape(figure.title + ". " + figure.how)}"', 1
    )
    return (
        f"<figure><h3>{escape(figure.title)}</h3>{labelled}"
        f"<figcaption>{escape(figure.how)}</figcaption></figure>"
    )


def _figures(evaluation: Evaluation, evidence: Evidence | None) -> list[_Figure]:
    palette = figures.colours(evaluation)
    found = [
        _Figure(
            "Every attacker on every system",
            "Each dot is an attacker's equal error rate, the bar its 95 % interval; the diamond is "
            "the strongest, grey ones hold the key. The further left, the better the attacker.",
            figures.attackers(evaluation),
        ),
        _Figure(
            "Privacy and utility",
            "The rim is best: an EER of 50 %, DeID of 1, G_VD of 0 dB, DNSMOS of 4, WER of 0. What "
            "was not measured is drawn at the centre.",
            figures.radar(evaluation, palette),
        ),
        _Figure(
            "Who is least protected",
            "For every speaker, how often the strongest attacker's first guess is right. An "
            "average hides people at the left.",
            figures.exposed(evaluation.systems, palette),
        ),
    ]
    if evidence is None:
        return found
    trials = evidence.trials
    strongest = {
        s.name: evidence.scores[s.name][f"{s.strongest.attacker}, {s.strongest.verifier}"]
        for s in evaluation.systems
        if s.name in evidence.scores
    }
    bare = evidence.scores.get("original", {})
    with_original = {"original": next(iter(bare.values())), **strongest} if bare else strongest
    found += [
        _Figure(
            "Detection error trade-off",
            "Misses against false alarms of the strongest attacker; axes are normal deviates. Near "
            "the lower left corner voices are recognised, on the dotted line's upper right not.",
            figures.det_curves(trials, with_original, palette),
        ),
        _Figure(
            "Empirical cross-entropy",
            "What is left to guess, for every prior belief of the strongest attacker. The dashed "
            "line is one who hears nothing; the area below it is what is disclosed.",
            figures.disclosure(trials, with_original, palette),
        ),
        _Figure(
            "Linkability",
            "Scores of the same speaker (blue) and of different ones (orange) under the strongest "
            "attacker; the black line is how much a score links, 0 to 1.",
            figures.linkabilities(trials, with_original),
        ),
        _Figure(
            "Voice similarity",
            "How alike speakers are held to be: originals (oo), originals against anonymized (oa), "
            "anonymized (aa). A bright diagonal in oa: people resemble their own originals. A "
            "bright square in aa: everybody sounds alike.",
            figures.similarities(evidence.matrices),
        ),
        _Figure(
            "Speaker vectors",
            "Recordings of some speakers, a colour and shape for each, as the verifier places "
            "them. Distances between clusters mean little.",
            figures.vectors(
                trials,
                np.asarray(evidence.vectors["original"]),
                {n: v for n, v in evidence.vectors.items() if n != "original"},
            ),
        ),
    ]
    found += [
        _Figure(
            f"Scores on {system.name}",
            "Scores of the same speaker (blue) and of different ones (orange) for each attacker; "
            "the less they overlap, the better it recognises.",
            figures.histograms(trials, evidence.scores[system.name]),
        )
        for system in evaluation.systems
        if system.name in evidence.scores
    ]
    return found
