"""Deng et al. 2023, figure 6: V-Cloak and four other systems under adversary A1, and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import IGNORANT, NO_WORDS, Bench, Measurement
from voicenym.reproduction.deng.deng_systems import CLOAK, OURS, PAPER, SYSTEMS, attacking, lacking
from voicenym.reproduction.outcome import Figure, Finding, OurPanel, OurRow, above, absent, all_of
from voicenym.reproduction.panel_drawings import dots
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import compared

RATES = ("MMR", "EER")
Parts = Mapping[str, Mapping[str, Sequence[Drawn]]]
"""Figures of each verifier, by the paper's name of a system and by metric."""


def comparison(bench: Bench) -> Ours:
    """Figure 6: MMR and EER of every verifier under adversary A1, word errors, and their means.

    A claim is decided by the interval of the difference, whose speakers are drawn once for both
    systems and all verifiers.
    """
    (panel,) = panels_of(PAPER, "figure-6")
    size, names = bench.budget.replicates, attacking(bench)
    systems = {**SYSTEMS, OURS: CLOAK}
    measured = {label: bench.measured(system) for label, system in systems.items()}
    there = {label: one for label, one in measured.items() if isinstance(one, Measurement)}
    parts = {label: rates(one, IGNORANT, names) for label, one in there.items()}
    said = {label: joint_figures.words(one) for label, one in there.items()}
    means, more = _originals(list(there.values()), names, size)
    for label, one in measured.items():
        beside = next((row for row in panel.labels if row.startswith(label)), "")
        if isinstance(one, str):
            means.append(OurRow(f"ours {label}", (absent(one),) * 3, beside))
            continue
        own = parts[label]
        figures = (*averages(own, size), _word_rate(said[label], size))
        means.append(OurRow(f"ours {label}", figures, beside))
        more.append(OurRow(f"ours {label}", each(own, size)))
    columns = tuple(f"{metric}, %, {name}" for metric in RATES for name in names)
    panels = (
        OurPanel(panel.title, panel.columns, tuple(means), 1),
        OurPanel("by verifier", columns, tuple(more), 1),
    )
    findings = tuple(_claims(parts, said, size)) if OURS in parts else ()
    drawings = pictures(panels) if names else ()
    return Ours(panels, findings, (means_of(names), *lacking(bench)), drawings)


def pictures(panels: tuple[OurPanel, OurPanel]) -> tuple[tuple[str, str], ...]:
    """Pictures of the means, whose headings in the paper count its verifiers, and of each verifier.

    Args:
        panels: of the means, and by verifier.
    """
    columns = tuple(column.replace(" of five", "") for column in panels[0].columns)
    means = replace(panels[0], columns=columns)
    return ("means.svg", dots(means)), ("by-verifier.svg", dots(panels[1]))


def rates(found: Measurement, attacker: str, names: Sequence[str]) -> dict[str, list[Drawn]]:
    """MMR and EER of an attacker with each of the verifiers."""
    return {
        metric: [
            drawn
            for name in names
            if (drawn := joint_figures.attack(found, metric, attacker, name)) is not None
        ]
        for metric in RATES
    }


def averages(own: Mapping[str, Sequence[Drawn]], size: int) -> tuple[Figure, ...]:
    """Means of MMR and of EER over verifiers."""
    return tuple(
        joint_figures.percent_of_trials(joint_figures.combined(own[metric]), size)
        for metric in RATES
    )


def each(own: Mapping[str, Sequence[Drawn]], size: int) -> tuple[Figure, ...]:
    """MMR, then EER, of each verifier."""
    return tuple(
        joint_figures.percent_of_trials(drawn, size) for metric in RATES for drawn in own[metric]
    )


def means_of(names: Sequence[str]) -> str:
    """What means over verifiers are means of."""
    if not names:
        return "no verifier ran"
    return f"means are over {len(names)} verifiers ({', '.join(names)}); the paper's are over five"


def _originals(
    there: list[Measurement], names: Sequence[str], size: int
) -> tuple[list[OurRow], list[OurRow]]:
    """Rows of original speech: of the means, and by verifier."""
    if not there:
        return [], []
    clean = [d for name in names if (d := joint_figures.original(there[0], name)) is not None]
    nothing = absent("no anonymization")
    mean = joint_figures.percent(joint_figures.combined(clean), size)
    said = _word_rate(joint_figures.words(there[0], "original"), size)
    eers = (joint_figures.percent(drawn, size) for drawn in clean)
    return (
        [OurRow("ours B0", (nothing, mean, said), "B0")],
        [OurRow("ours B0", (*(nothing for _ in names), *eers))],
    )


def _word_rate(drawn: Drawn | None, size: int) -> Figure:
    return joint_figures.percent(drawn, size, NO_WORDS["WER"])


def _claims(parts: Parts, said: Mapping[str, Drawn | None], size: int) -> Iterator[Finding]:
    """Claims of section 5.2."""
    for metric in RATES:
        mean = {label: joint_figures.combined(own[metric]) for label, own in parts.items()}
        yield higher(f"A1: V-Cloak has the highest mean {metric}", mean, size)
    worst = {label: joint_figures.combined(own["EER"], np.min) for label, own in parts.items()}
    yield higher(
        "A1: V-Cloak's EER with the best verifier is higher than the other systems'", worst, size
    )
    for claim, more, less in (
        ("VoiceMask loses more words than V-Cloak", "VoiceMask", OURS),
        ("HFGAN loses more words than V-Cloak", "HFGAN", OURS),
        ("McAdams loses more words than V-Cloak", "McAdams", OURS),
        ("V-Cloak loses more words than NSF", OURS, "NSF"),
    ):
        gap = joint_figures.difference(said.get(more), said.get(less), size)
        rows = [(name, _word_rate(said.get(name), size)) for name in (more, less)]
        yield compared(claim, above(gap, 0.0), *rows, ("difference", gap))


def higher(claim: str, found: Mapping[str, Drawn], size: int) -> Finding:
    """Whether V-Cloak's figure is higher than that of every other system.

    Undecided where a system of the paper was not measured, unless another one is higher.
    """
    cloak = found[OURS]
    gaps = {
        label: joint_figures.difference(cloak, drawn, size)
        for label, drawn in found.items()
        if label != OURS
    }
    verdicts = [above(gaps[label], 0.0) if label in gaps else None for label in SYSTEMS]
    if not gaps:
        return Finding(claim, None, "no other system was measured")
    (first, gap), *rest = gaps.items()
    named = [(f"V-Cloak {cloak_text(cloak)}; V-Cloak less {first}", gap)]
    named += [(f"less {label}", gap) for label, gap in rest]
    return compared(claim, all_of(verdicts), *named)


def cloak_text(cloak: Drawn) -> str:
    """V-Cloak's own figure."""
    return f"{100.0 * cloak.value:.1f} %"
