"""Yao et al. 2024, table VI: codecs that were trained without one of the two distillations."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from voicenym.reproduction.bench import IGNORANT, LAZY, Bench
from voicenym.reproduction.outcome import (
    Figure,
    Finding,
    OurPanel,
    OurRow,
    absent,
    all_of,
    exceeds,
)
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import attacked, compared, filled, useful

FULL, SEMANTIC, SPEAKER = "full", "no-semantic", "no-speaker"
ABLATIONS = {FULL: "MUSA_ml", SEMANTIC: "without L_sem", SPEAKER: "without L_spk"}
"""Codecs that ``--codec NAME=FOLDER`` gives, by name, with the paper's rows."""
WHOLE = "musa:voice=empty"
"""The bundled codec, or that of one's own ``musa`` folder, where no codec is given."""
NONE = (
    "no codec was given: voicenym train musa with a weight of zero for this loss, then --codec "
    f"{SEMANTIC}=FOLDER or --codec {SPEAKER}=FOLDER"
)
EERS = ("EER, %, ignorant", "EER, %, lazy-informed")


def ablations(bench: Bench) -> Ours:
    """Table VI: codecs with both distillations, and without one (section V-D)."""
    (panel,) = panels_of("yao-2024", "table-6")
    rows, found = [], {}
    for name, label in ABLATIONS.items():
        system = _system(name, bench.codecs)
        ours = "ours MUSA" if name == FULL else f"ours {label}"
        if not system:
            rows.append(OurRow(ours, (absent(NONE),) * len(panel.columns), label))
            continue
        found[name] = {
            "EER, %, ignorant": attacked(bench, system, IGNORANT, "EER"),
            "EER, %, lazy-informed": attacked(bench, system, LAZY, "EER"),
            "WER, %": useful(bench, system, "WER"),
            "rho_F0": useful(bench, system, "rho_F0"),
            "G_VD, dB": useful(bench, system, "G_VD"),
        }
        rows.append(OurRow(ours, filled(panel.columns, found[name]), label))
    notes = () if not bench.codecs else (_trained(bench.codecs),)
    return Ours((OurPanel(panel.title, panel.columns, tuple(rows), 2),), _findings(found), notes)


def _system(name: str, codecs: Mapping[str, Path]) -> str:
    """System of a row; empty where its codec was not given.

    Without L_spk the paper takes the speaker to be in the codebooks after the first, and decodes
    without them.
    """
    if name not in codecs:
        return WHOLE if name == FULL else ""
    first = ",codebooks=1" if name == SPEAKER else ""
    return f"{WHOLE}{first},weights={codecs[name]}"


def _findings(found: Mapping[str, Mapping[str, Figure]]) -> tuple[Finding, ...]:
    """The claims of section V-D on the codecs that were given."""
    claims = (
        ("Without L_sem, attackers find more", EERS, FULL, SEMANTIC, 1),
        ("Without L_spk, attackers find more", EERS, FULL, SPEAKER, 1),
        ("Attackers find more without L_sem than without L_spk", EERS, SPEAKER, SEMANTIC, 1),
        ("Without L_spk, more words are lost", ("WER, %",), SPEAKER, FULL, 1),
        ("Without L_spk, less of the intonation is kept", ("rho_F0",), FULL, SPEAKER, 2),
    )
    return tuple(
        compared(
            claim,
            all_of([exceeds(found[more][metric], found[less][metric]) for metric in metrics]),
            *((f"{ABLATIONS[name]}, {metric}", found[name][metric])
              for name in (more, less) for metric in metrics),
            digits=digits,
        )
        for claim, metrics, more, less, digits in claims
        if more in found and less in found
    )  # fmt: skip


def _trained(codecs: Mapping[str, Path]) -> str:
    """Steps and speech of the trainings, by the cards of the codecs."""
    from voicenym.nets.codec.codec import Codec

    told = []
    for name, place in codecs.items():
        card = Codec.load(place)[1].get("card", {})
        steps = next((str(value) for key, value in card.items() if "steps" in key), "unknown")
        told.append(f"{ABLATIONS[name]}: {steps} steps, {card.get('hours', 'unknown')} h")
    return f"trainings of the codecs: {'; '.join(told)}"
