"""Deng et al. 2023, tables 3 to 5: verifiers, adversary A3, and verifiers of other data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import IGNORANT, LAZY, Bench, Measurement
from voicenym.reproduction.deng.deng_comparison import higher, rates
from voicenym.reproduction.deng.deng_systems import (
    CLOAK,
    GIVE,
    OURS,
    PAPER,
    SYSTEMS,
    UNTARGETED,
    attacking,
    kind_of,
)
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    above,
    absent,
    all_of,
)
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_checks import average_check
from voicenym.reproduction.published_figures import PublishedPanel, panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, original

WITH_KEY = "key-holder (A3 of V-Cloak)"
FREE, TARGETED = "V-CLOAK untargeted", "V-CLOAK targeted without key"
KEYED = "V-CLOAK targeted with key"
KEYS = 24
"""Enrolments of all people that adversary A3 may cloak: one for each speaker of ``small``."""
AVERAGE, WORST = "AVG", "WCS"


def _panel(table: str) -> PublishedPanel:
    return panels_of(PAPER, table)[0]


def verifiers(bench: Bench) -> Ours:
    """Table 3: EER of the verifiers on original speech."""
    panel = _panel("table-3")
    rows = []
    for name in attacking(bench):
        kind = kind_of(name)
        beside = next((label for label in panel.labels if kind and f"({kind})" in label), "")
        rows.append(OurRow(f"ours, {name}", (original(bench, "EER", "", name),), beside))
    rows += _lacking(bench, panel, ("XV", "GMM", "IV", "IF"), 1)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),))


def _lacking(
    bench: Bench, panel: PublishedPanel, kinds: Sequence[str], columns: int
) -> list[OurRow]:
    """Rows of the paper's verifiers without one here."""
    there = {kind_of(name) for name in attacking(bench)}
    return [
        OurRow(f"ours, {kind}", (absent(GIVE[kind]),) * columns,
               next((label for label in panel.labels if kind in label), ""))
        for kind in kinds if kind not in there
    ]  # fmt: skip


def unlinkability(bench: Bench) -> Ours:
    """Table 4: EER under adversary A3."""
    panel = _panel("table-4")
    average = average_check(panel, AVERAGE, ("EP", "XV", "GMM", "IV", "IF"), (0.2,) * 5)
    if bench.speech is None:
        return Ours(findings=(average,))
    systems = {**SYSTEMS, FREE: UNTARGETED, TARGETED: CLOAK}
    names, size = attacking(bench), bench.budget.replicates
    rows = []
    with_key = bench.measured(CLOAK, (LAZY, WITH_KEY), keys=KEYS)
    for name in names:
        found = {"B0": original(bench, "EER", "", name)}
        for column, system in systems.items():
            found[column] = attacked(bench, system, LAZY, "EER", "", name)
        found[KEYED] = (
            absent(with_key) if isinstance(with_key, str)
            else with_key.figure(WITH_KEY, "EER", "", name)
        )  # fmt: skip
        rows.append(OurRow(f"ours, {name}", filled(panel.columns, found), kind_of(name)))
    rows += _lacking(bench, panel, ("XV", "GMM", "IV", "IF"), len(panel.columns))
    parts = {column: _linked(bench.measured(system), LAZY, names)
             for column, system in systems.items()}  # fmt: skip
    parts[KEYED] = _linked(with_key, WITH_KEY, names)
    clean = bench.measured(CLOAK)
    if isinstance(clean, Measurement):
        bare = (joint_figures.original(clean, name) for name in names)
        parts["B0"] = [drawn for drawn in bare if drawn is not None]
    for label, reduce in ((AVERAGE, np.mean), (WORST, np.min)):
        figures = {column: joint_figures.percent(joint_figures.combined(own, reduce), size)
                   for column, own in parts.items() if own}  # fmt: skip
        rows.append(OurRow(f"ours, {label}", filled(panel.columns, figures), label))
    mean = {column: joint_figures.combined(own) for column, own in parts.items() if own}
    findings = [average]
    if TARGETED in mean and FREE in mean:
        findings += _protected(mean, size)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), tuple(findings))


def _linked(found: Measurement | str, attacker: str, names: Sequence[str]) -> list[Drawn]:
    """EER of an attacker with each verifier; nothing of a system that did not run."""
    if isinstance(found, str):
        return []
    every = (joint_figures.attack(found, "EER", attacker, name) for name in names)
    return [drawn for drawn in every if drawn is not None]


def _protected(mean: dict[str, Drawn], size: int) -> list[Finding]:
    """Claims of section 5.5 on means over verifiers."""
    gaps = {column: joint_figures.difference(mean[TARGETED], mean.get(column), size)
            for column in (*SYSTEMS, FREE)}  # fmt: skip
    others = {column: joint_figures.difference(mean[FREE], mean.get(column), size)
              for column in ("NSF", "McAdams", "VoiceMask")}  # fmt: skip
    least = joint_figures.difference(mean.get("HFGAN"), mean[FREE], size)
    return [
        compared(
            "A3 without the key: V-Cloak with targets has the highest mean EER",
            all_of([above(gap, 0.0) for gap in gaps.values()]),
            *((f"less {column}", gap) for column, gap in gaps.items()),
        ),
        compared(
            "A3: V-Cloak without targets is second only to HFGAN in the mean EER",
            all_of([above(gap, 0.0) for gap in (*others.values(), least)]),
            *((f"less {column}", gap) for column, gap in others.items()),
            ("HFGAN less V-Cloak", least),
        ),
    ]


def separate(bench: Bench) -> Ours:
    """Table 5: MMR, WMR and EER of verifiers trained on other data, adversary A1."""
    panel = _panel("table-5")
    claim = "The printed WMR of a verifier is the same for every system"
    same = all(
        len({row.texts[i] for i in range(2, len(panel.columns), 3)}) == 1 for row in panel.rows
    )
    evidence = "it is a property of the threshold, not of a system"
    findings = [
        average_check(panel, AVERAGE, ("EP", "XV", "DP"), (1 / 3,) * 3),
        Finding(claim, same, evidence, arithmetic=True),
    ]
    if bench.speech is None:
        return Ours(findings=tuple(findings))
    systems = {**SYSTEMS, OURS: CLOAK}
    names, size = attacking(bench), bench.budget.replicates
    rows = []
    for name in names:
        found = {"B0 EER": original(bench, "EER", "", name)}
        for column, system in systems.items():
            for metric in ("MMR", "WMR", "EER"):
                found[f"{column} {metric}"] = attacked(bench, system, IGNORANT, metric, "", name)
        rows.append(OurRow(f"ours, {name}", filled(panel.columns, found), kind_of(name)))
    rows += _lacking(bench, panel, ("XV", "DP"), len(panel.columns))
    measured = {column: bench.measured(system) for column, system in systems.items()}
    parts = {column: rates(one, IGNORANT, names)
             for column, one in measured.items() if isinstance(one, Measurement)}  # fmt: skip
    for label, reduce in ((AVERAGE, np.mean), (WORST, np.min)):
        figures: dict[str, Figure] = {}
        for column, own in parts.items():
            for metric, drawn in own.items():
                one = joint_figures.combined(drawn, reduce)
                figures[f"{column} {metric}"] = joint_figures.percent_of_trials(one, size)
        reason = "averages are of MMR and EER"
        rows.append(OurRow(f"ours, {label}", filled(panel.columns, figures, reason), label))
    if OURS in parts:
        for metric in ("MMR", "EER"):
            for words, reduce in (("mean", np.mean), ("least", np.min)):
                drawn_of = {column: joint_figures.combined(own[metric], reduce)
                            for column, own in parts.items()}  # fmt: skip
                claim = f"Separate training data, A1: V-Cloak has the highest {words} {metric}"
                findings.append(higher(claim, drawn_of, size))
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 1),), tuple(findings))
