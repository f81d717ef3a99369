"""Yao et al. 2024, figure 4: speakers in the output of the codec's speaker encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from voicenym.evaluation.figures.similarity_figures import flattened
from voicenym.evaluation.figures.svg import COLOURS, drawn, paper
from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.verification.eer import equal_error
from voicenym.nets.codec.codec import Codec
from voicenym.reproduction import joint_figures
from voicenym.reproduction.bench import Bench
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above, negated
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.table_rows import compared
from voicenym.resynthesis.codec.codec_core import CodecSpeakers
from voicenym.systems.musa import Musa
from voicenym.verification.scoring import unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

MOST_SPEAKERS = 10
"""As in the paper (section V-D)."""
DISTINCT = 10.0
"""Equal error rate in percent below which we call clusters of speakers distinct; the paper judges
by the picture."""


@drawn
def scattered(vectors: np.ndarray, speakers: np.ndarray) -> Picture:
    """t-SNE of vectors ``[recording, dimension]``, a colour and a marker for each speaker."""
    figure, axes = paper(3.4)
    axis, flat = axes[0, 0], flattened(vectors)
    for number, speaker in enumerate(dict.fromkeys(speakers)):
        own = speakers == speaker
        marker = "o^sD"[number // len(COLOURS) % 4]
        axis.plot(*flat[own].T, marker, color=COLOURS[number % len(COLOURS)], ms=4, mew=0,
                  alpha=0.8)  # fmt: skip
    axis.set(xticks=[], yticks=[])
    return figure


def encoder_vectors(bench: Bench) -> Ours:
    """Figure 4: vectors of recordings of up to ten speakers, in two dimensions.

    Cosines are of vectors without the mean of all, which dominates them.
    """
    people = list(dict.fromkeys(recording.speaker for recording in bench.recordings))
    chosen = {people[i * len(people) // MOST_SPEAKERS] for i in range(MOST_SPEAKERS)}
    own = [recording for recording in bench.recordings if recording.speaker in chosen]
    encoder = CodecSpeakers(Codec.load(Musa().folder)[0].requires_grad_(False))
    bench.say(f"the codec's speaker encoder: {len(own)} recordings")
    vectors = encoder.embed([torch.from_numpy(r.samples().copy()) for r in own]).numpy()
    speakers = np.array([recording.speaker for recording in own])
    centred = unit(vectors - vectors.mean(0))
    cosines, same = centred @ centred.T, speakers[:, None] == speakers
    pairs = np.triu(np.ones_like(same), 1)
    alike, unlike = cosines[pairs & same], cosines[pairs & ~same]
    who = np.stack(np.meshgrid(speakers, speakers, indexing="ij"), axis=-1)
    drawn_rate = equal_error(alike, unlike, Speakers(who[pairs & same], who[pairs & ~same]))
    rate = joint_figures.percent_of_trials(drawn_rate, bench.budget.replicates)
    columns = ("speakers", "recordings", "cosine of one speaker, median",
               "of two speakers, median", "EER, %, of pairs")  # fmt: skip
    numbers = (len(chosen), len(own), np.median(alike), np.median(unlike))
    row = OurRow("ours, bundled musa", (*(Figure(float(n)) for n in numbers), rate))
    finding = compared(
        "The speaker encoder's vectors form a distinct cluster for each speaker",
        negated(above(rate, DISTINCT)),
        (f"distinct below an equal error rate of pairs of {DISTINCT:.0f} %; found", rate),
    )
    notes = ("the paper has 1,147 recordings, and judges by the picture alone",)
    drawing = ("figure-4.svg", scattered(centred, speakers))
    return Ours((OurPanel("speaker encoder", columns, (row,), 2),), (finding,), notes, (drawing,))
