"""Turner et al. 2022, figure 9: vectors of the output, of its target and of the original."""

from __future__ import annotations

import numpy as np
import torch

from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.identity.mixture import Mixture
from voicenym.reproduction import medians
from voicenym.reproduction.bench import VECTORS, Bench
from voicenym.reproduction.counterparts import BUNDLED, MIXTURE
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above
from voicenym.reproduction.panel_drawings import cumulative
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import compared
from voicenym.reproduction.turner.turner_vectors import QUANTILES
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import verifier

TARGET, SOURCE = "output, its target", "output, its original"
SAME, OTHER = "original, same voice", "original, different voice"
"""Kinds of pairs."""


def resultant(bench: Bench) -> Ours:
    """Figure 9: vectors of the output, of the target and of the original speech."""
    voice, test = verifier("ecapa-small"), bench.trials
    step = Anonymize(MIXTURE, key(0, "user"))
    path = None if bench.cache is None else bench.cache / VECTORS
    with Embedder(VectorCache(path), bench.workers, left_out=bench.left_out) as embedder:
        vectors = embedder(voice, test.recordings, ORIGINAL)
        output = embedder(voice, test.recordings, Transform((step,)))
    names = [recording.speaker for recording in test.recordings]
    model = Mixture(str(BUNDLED / "mixture"))
    who = [step.pseudonym(recording) for recording in test.recordings]
    asked = model.batch(torch.from_numpy(vectors.copy()), who).numpy()
    same = np.equal.outer(names, names)
    rest = ~np.eye(len(names), dtype=bool)
    between = _unit(vectors) @ _unit(vectors).T
    own, who_pairs = np.stack([names, names], axis=1), _pairs(names)
    kinds = {
        TARGET: ((_unit(output) * _unit(asked)).sum(1), own),
        SOURCE: ((_unit(output) * _unit(vectors)).sum(1), own),
        SAME: (between[same & rest], who_pairs[same & rest]),
        OTHER: (between[~same], who_pairs[~same]),
    }
    rows = tuple(
        OurRow(name, tuple(Figure(float(v)) for v in np.percentile(values, QUANTILES)))
        for name, (values, _) in kinds.items()
    )
    middle = {name: medians.median(*one) for name, one in kinds.items()}
    text = "; ".join(f"{name} {one.value:.2f}" for name, one in middle.items())
    less = medians.less(middle[SAME], middle[TARGET])
    more = medians.less(middle[SOURCE], middle[OTHER])
    findings = (
        compared("The output is less like its target than two recordings of one voice",
                 above(less, 0.0), (f"medians: {text}; {SAME} less {TARGET}", less), digits=2),
        compared("The output is more like its original than two different voices",
                 above(more, 0.0), (f"medians: {text}; {SOURCE} less {OTHER}", more), digits=2),
    )  # fmt: skip
    columns = tuple(f"{q} % below" for q in QUANTILES)
    drawing = cumulative({"": {name: values for name, (values, _) in kinds.items()}}, "cosine")
    panel = OurPanel("cosines", columns, rows, 2)
    return Ours((panel,), findings, (), (("distributions.svg", drawing),))


def _pairs(names: list[str]) -> np.ndarray:
    """Speakers of all pairs of recordings, ``[recording, recording, 2]``."""
    return np.stack(np.meshgrid(names, names, indexing="ij"), axis=-1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    found: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found
