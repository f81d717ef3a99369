"""Deng et al. 2023, targets: how many outputs of V-Cloak a verifier takes for the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.attack.scenario import Model
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Anonymize, Transform
from voicenym.errors import CorpusError
from voicenym.evaluation.measurements.protection import split
from voicenym.metrics.verification.eer import eer
from voicenym.metrics.verification.rates import wrong_match_rate
from voicenym.pseudonym import Key
from voicenym.reproduction.bench import VECTORS, Bench
from voicenym.reproduction.outcome import Figure, OurPanel, OurRow, above
from voicenym.reproduction.paper_table import Ours
from voicenym.reproduction.published_figures import panels_of
from voicenym.reproduction.table_rows import compared
from voicenym.verification.scoring import COSINE
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import verifier

MOST_TARGETS = 10
"""Target speakers, as many as in the paper (section 5.5)."""
EPSILONS = (0.05, 0.1)
NEARLY = 99.0
"""Percent of matches that stand for the paper's 99.99."""
KEY = Key(bytes(32))
"""Without effect: with ``target``, the pseudonym changes nothing."""


@dataclass(frozen=True)
class Matches:
    """Scores against the targets' other recordings.

    Args:
        before, after: ``[pair]`` of others' recordings, original and cloaked.
        pairs: ``[pair, 2]``, the target and the recording's speaker.
        own: ``[pair]`` of originals to the enrolment of their own speakers.
        kept: ``[pair]`` of cloaked recordings to that enrolment.
        threshold: of equal errors on original speech.
    """

    before: np.ndarray
    after: np.ndarray
    pairs: np.ndarray
    own: np.ndarray
    kept: np.ndarray
    threshold: float

    def matched(self, scores: np.ndarray, replicates: int) -> Figure:
        """Share of scores at or above the threshold, in percent, with its interval."""
        rate = wrong_match_rate(scores, self.threshold, speakers=self.pairs, replicates=replicates)
        low, high = rate.interval
        return Figure(100.0 * rate.value, 100.0 * low, 100.0 * high)


def matched(bench: Bench) -> Ours:
    """Table 17: recordings of others, cloaked towards a target, that match with it.

    A target is one enrolled recording of a speaker; the verifier compares with that speaker's
    other enrolled recordings. Its threshold is that of equal errors on original speech.
    """
    published = panels_of("deng-2023", "table-17")[0]
    rows, more, rates = [], [], []
    with Embedder(VectorCache(bench.cache and bench.cache / VECTORS)) as embedder:
        for name in bench.verifiers:
            voice = verifier(name)
            for epsilon in EPSILONS:
                bench.say(f"vcloak towards targets, epsilon {epsilon:g}: {voice.name}")
                found = _matches(bench, embedder, voice, epsilon)
                rate = found.matched(found.after, bench.budget.replicates)
                rates.append((epsilon, rate))
                label = f"{voice.name}, epsilon {epsilon:g}"
                rows.append(OurRow(f"ours, {label}", (rate,), published.labels[0]))
                more.append(OurRow(label, (
                    found.matched(found.before, bench.budget.replicates),
                    rate,
                    Figure(100.0 * float(np.mean(found.kept < found.threshold))),
                    Figure(float(found.before.mean())), Figure(float(found.after.mean())),
                    Figure(float(found.own.mean())), Figure(float(found.kept.mean())),
                )))  # fmt: skip
    columns = (
        "matched with the target before, %", "after, %", "no longer matched with its speaker, %",
        "cosine to the target before", "after", "cosine to its own speaker before", "after",
    )  # fmt: skip
    finding = compared(
        f"Nearly all outputs (99.99 %; here {NEARLY:g} % or more) match with the target",
        above(max((rate for _, rate in rates), key=lambda rate: rate.value or 0.0), NEARLY),
        *((f"epsilon {epsilon:g}", rate) for epsilon, rate in rates),
    )
    panels = (
        OurPanel(published.title, published.columns, tuple(rows), 1),
        OurPanel("towards targets", columns, tuple(more), 2),
    )
    notes = (
        "a target is one enrolled recording of a speaker, the model is of the speaker's other "
        "enrolled recordings",
    )
    return Ours(panels, (finding,), notes)


def _matches(bench: Bench, embedder: Embedder, voice: Verifier, epsilon: float) -> Matches:
    trials = bench.trials
    vectors = [embedder(voice, model.recordings) for model in trials.models]
    tried = embedder(voice, trials.recordings)
    target, nontarget, _ = split(COSINE.score(vectors, tried), trials)
    before: list[float] = []
    pairs: list[tuple[str, str]] = []
    after: list[float] = []
    own: list[float] = []
    kept: list[float] = []
    for place, model, recording in _targets(trials.models):
        some = spread(
            [r for r in trials.recordings if r.speaker != model.speaker], bench.budget.sample
        )
        parameters = (("epsilon", epsilon), ("target", str(recording.path)))
        cloak = Transform((Anonymize("vcloak", KEY, "everybody", parameters),))
        rest = np.stack([v for v, r in zip(vectors[place], model.recordings, strict=True)
                         if r is not recording])  # fmt: skip
        models = [rest, *vectors]
        pairs += [(model.speaker, r.speaker) for r in some]
        speakers = np.array([m.speaker for m in trials.models])
        rows = [1 + int(np.flatnonzero(speakers == r.speaker)[0]) for r in some]
        for values, to_target, to_own in (
            (embedder(voice, some), before, own),
            (embedder(voice, some, cloak), after, kept),
        ):
            scores = COSINE.score(models, values)
            to_target += list(scores[0])
            to_own += [float(scores[row, column]) for column, row in enumerate(rows)]
    threshold = eer(target, nontarget, interval=None).threshold
    return Matches(np.array(before), np.array(after), np.array(pairs), np.array(own),
                   np.array(kept), threshold)  # fmt: skip


def _targets(models: Sequence[Model]) -> list[tuple[int, Model, Recording]]:
    """Up to :data:`MOST_TARGETS` models, spread over all, each with the recording that is given."""
    found = []
    for place, model in enumerate(models):
        whole = [r for r in model.recordings if not r.command and not r.start and r.end is None]
        if whole and len(model.recordings) > 1:
            found.append((place, model, whole[0]))
    if not found:
        raise CorpusError(
            "no speaker has two enrolled recordings in files of their own: give other speech, or a "
            "larger --budget"
        )
    if len(found) <= MOST_TARGETS:
        return found
    return [found[i * len(found) // MOST_TARGETS] for i in range(MOST_TARGETS)]
