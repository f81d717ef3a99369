"""Deng et al. 2023, figure 7: adversary A2, who de-noises before comparing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from voicenym.attack.denoisers import denoisers
from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import IGNORANT, Bench
from voicenym.reproduction.deng.deng_comparison import (
    RATES,
    averages,
    cloak_text,
    each,
    means_of,
    pictures,
    rates,
)
from voicenym.reproduction.deng.deng_systems import CLOAK, OURS, PAPER, SYSTEMS, attacking, lacking
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    above,
    absent,
    all_of,
    negated,
)
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import compared

MP3 = "mp3"
MOST = {"MMR": 3.27, "EER": 9.26}
"""Points that the paper's strongest de-noiser, MP3, lowers V-Cloak's means by (section 5.4)."""
Cleaned = Mapping[str, Mapping[str, Mapping[str, Sequence[Drawn]]]]
"""Figures of each verifier by system, by de-noiser (``none`` for A1) and by metric."""
NONE = "none"


def cleaned(bench: Bench) -> Ours:
    """Figure 7: MMR and EER after each of six de-noisers, means over verifiers and by verifier.

    Claims are decided as those of figure 6.
    """
    (panel,) = panels_of(PAPER, "figure-7")
    size, names = bench.budget.replicates, attacking(bench)
    tools = tuple(denoisers())
    found: dict[str, dict[str, dict[str, list[Drawn]]]] = {}
    means: list[OurRow] = []
    more: list[OurRow] = []
    for label, system in {OURS: CLOAK, **SYSTEMS}.items():
        one = bench.measured(system, (IGNORANT, "de-noising"), denoisers=tools)
        if isinstance(one, str):
            means.append(OurRow(f"ours {label}", (absent(one),) * len(panel.columns)))
            continue
        attackers = {NONE: IGNORANT, **{tool: f"de-noising ({tool})" for tool in tools}}
        found[label] = {tool: rates(one, attacker, names) for tool, attacker in attackers.items()}
        for tool, own in found[label].items():
            name = label if tool == NONE else f"{label}, {tool}"
            beside = next((r for r in panel.labels if r.lower() == name.lower()), "")
            means.append(OurRow(f"ours {name}", averages(own, size), beside))
            more.append(OurRow(f"ours {name}", each(own, size)))
    columns = tuple(f"{metric}, %, {name}" for metric in RATES for name in names)
    panels = (
        OurPanel(panel.title, panel.columns, tuple(means), 1),
        OurPanel("by verifier", columns, tuple(more), 1),
    )
    findings = tuple(_claims(found, size)) if OURS in found else ()
    drawings = pictures(panels) if names else ()
    return Ours(panels, findings, (means_of(names), *lacking(bench)), drawings)


def _claims(found: Cleaned, size: int) -> Iterator[Finding]:
    """Claims of section 5.4."""
    cloak = found[OURS]
    for metric in RATES:
        yield strongest(metric, {t: joint_figures.combined(own[metric])
                                 for t, own in cloak.items()}, size)  # fmt: skip
    for metric in RATES:
        yield little(metric, {t: joint_figures.combined(own[metric])
                              for t, own in cloak.items()}, size)  # fmt: skip
    worst = {label: {t: joint_figures.combined(own["EER"], np.min) for t, own in tools.items()}
             for label, tools in found.items()}  # fmt: skip
    yield best_after(worst, size)


def strongest(metric: str, found: Mapping[str, Drawn], size: int) -> Finding:
    """Whether V-Cloak's figure is lower after MP3 than after every other de-noiser."""
    gaps = {
        tool: joint_figures.difference(drawn, found[MP3], size)
        for tool, drawn in found.items()
        if tool not in (MP3, NONE)
    }
    claim = f"MP3 is the de-noiser that lowers V-Cloak's mean {metric} most"
    named = [(f"{tool} less mp3", gap) for tool, gap in gaps.items()]
    verdict = all_of([above(gap, 0.0) for gap in gaps.values()])
    return compared(claim, verdict, *_led(f"after mp3 {cloak_text(found[MP3])}", named))


def little(metric: str, found: Mapping[str, Drawn], size: int) -> Finding:
    """Whether no de-noiser lowers V-Cloak's figure by more than the paper's strongest one."""
    gaps = {
        tool: joint_figures.difference(found[NONE], drawn, size)
        for tool, drawn in found.items()
        if tool != NONE
    }
    claim = f"No de-noiser lowers V-Cloak's mean {metric} by more than {MOST[metric]} points"
    named = [(f"{tool} lowers it by", gap) for tool, gap in gaps.items()]
    verdict = all_of([negated(above(gap, MOST[metric])) for gap in gaps.values()])
    return compared(claim, verdict, *_led(f"without one {cloak_text(found[NONE])}", named))


def best_after(worst: Mapping[str, Mapping[str, Drawn]], size: int) -> Finding:
    """Whether V-Cloak's EER with the best verifier is the highest after every de-noiser.

    The evidence names, for each other system, the de-noiser after which V-Cloak leads it least.
    """
    verdicts: list[bool | None] = []
    named: list[tuple[str, Figure]] = []
    for label in SYSTEMS:
        if label not in worst:
            verdicts.append(None)
            continue
        gaps = {tool: joint_figures.difference(worst[OURS][tool], drawn, size)
                for tool, drawn in worst[label].items() if tool != NONE}  # fmt: skip
        verdicts += [above(gap, 0.0) for gap in gaps.values()]
        least = min(gaps, key=lambda tool: gaps[tool].value or 0.0)
        named.append((f"V-Cloak less {label} after {least}", gaps[least]))
    claim = (
        "A2: V-Cloak's EER with the best verifier is higher than the other systems' after all six"
    )
    return compared(claim, all_of(verdicts), *named)


def _led(lead: str, named: list[tuple[str, Figure]]) -> list[tuple[str, Figure]]:
    """The named figures, the first one behind a figure that the claim is about."""
    (first, figure), *rest = named
    return [(f"{lead}; {first}", figure), *rest]
