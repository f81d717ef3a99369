"""Figure 12 of the supplement to Tomashenko et al. 2022: matrices of a retrained verifier."""

from __future__ import annotations

from dataclasses import replace

from voicenym.evaluation.figures import similarities
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.counterparts import SELECTION
from voicenym.reproduction.outcome import OurPanel, OurRow, absent
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import useful
from voicenym.verification.verifiers import verifier

BLOCKS = ("M_oo own", "M_oo others", "M_oa own", "M_oa others", "M_aa own", "M_aa others")
GIVE = (
    "give two: --verifier ecapa-small --verifier FOLDER, of voicenym train verifier --system "
    f"{SELECTION}"
)


def retrained(bench: Bench) -> Ours:
    """Figure 12: matrices of B1's counterpart with the first verifier and with the last one.

    Similarity is of the first verifier of an evaluation; so each has an evaluation of its own.
    """
    rows, drawings = [], []
    given = dict.fromkeys((bench.verifiers[0], bench.verifiers[-1]))
    for place, name in enumerate(given):
        own = replace(bench, verifiers=(name,), _kept={})
        called = verifier(name).name
        rows.append(OurRow(called, tuple(useful(own, SELECTION, block) for block in BLOCKS)))
        found = own.measured(SELECTION)
        if not isinstance(found, str):
            drawing = similarities({called: found.evidence.matrices[found.name]})
            drawings.append((f"{place + 1}.svg", drawing))
    if len(given) < 2:
        rows.append(OurRow("retrained", tuple(absent(GIVE) for _ in BLOCKS)))
    panel = OurPanel("mean similarity", BLOCKS, tuple(rows), 2)
    return Ours((panel,), (), (), tuple(drawings))
