"""Attacks on a system and their figures: all metrics of trial scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voicenym.anonymizer.system_settings import label
from voicenym.attack.attackers import Attacker, Comparing, Ignorant, LazyInformed, Unprotected
from voicenym.attack.scenario import Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import Transform
from voicenym.errors import ScoreError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.measurements import chance_levels
from voicenym.evaluation.measurements.condition_weights import lacking
from voicenym.evaluation.reported_metrics import WEIGHTED
from voicenym.evaluation.results import AttackFigures, Exposed, Lesson, Measured
from voicenym.evaluation.trial_plans.conditions import measurable, within
from voicenym.evaluation.trial_plans.trials import Part, Trials, by_group
from voicenym.metrics import Speakers, eer, linkability, zebra
from voicenym.metrics.joint_figures.weighted import weighted_mean
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import IdentificationScores, TrialScores
from voicenym.metrics.verification.eer import limits as eer_limits
from voicenym.metrics.verification.linkability import limits as linkability_limits
from voicenym.metrics.verification.zebra import limits as zebra_limits
from voicenym.verification.scoring import Backend
from voicenym.verification.verifier import Verifier
from voicenym.verification.voice_statistics import VoiceStatistics

NO_THRESHOLDS: Mapping[str, float] = {}


@dataclass(frozen=True)
class Attacked:
    """An attack's figures, its scores ``[model, trial]`` for drawing, and the EER's threshold."""

    figures: AttackFigures
    scores: np.ndarray
    threshold: float


def attack(
    attackers: Sequence[Attacker],
    scenario: Scenario,
    trials: Trials,
    verifier: Verifier,
    embedder: Embedder,
    *,
    replicates: int,
    thresholds: Mapping[str, float] = NO_THRESHOLDS,
    say: Callable[[str], None] = lambda text: None,
) -> list[Attacked]:
    """Run attackers with one verifier.

    Args:
        attackers: run in order.
        scenario: of the attacks.
        trials: the tested pairs.
        verifier: for vectors.
        embedder: computes or caches them.
        replicates: of the bootstrap over speakers.
        thresholds: of equal errors on original speech, by the name of the attacker there.
        say: receives a line of progress.
    """
    found = []
    for attacker in attackers:
        what = _named(scenario)
        name = attacker.verifier_name(verifier)
        say(f"{what}: {attacker.name}, {name}")
        scores = attacker.scores(scenario, verifier, embedder)
        threshold = thresholds.get(attacker.reference)
        one = measured(attacker, scores, trials, name, replicates, threshold)
        lessons = tuple(
            Lesson(int(row["step"]), row["seconds"], row["EER %"])
            for row in attacker.training_curve(scenario)
        )
        taught = len(scenario.pool) if attacker.learns else 0
        figures = dataclasses.replace(one.figures, learning=lessons, learned_from=taught)
        found.append(dataclasses.replace(one, figures=figures))
    return found


def _named(scenario: Scenario) -> str:
    """Name of the attack, for progress."""
    protection = scenario.protection
    if protection.system is None:
        return "files" if protection.protects else "original"
    return label(protection.system, dict(protection.parameters))


def trivial(
    scenario: Scenario,
    trials: Trials,
    verifier: VoiceStatistics,
    embedder: Embedder,
    *,
    replicates: int,
    thresholds: Mapping[str, float] = NO_THRESHOLDS,
) -> list[Attacked]:
    """Baseline attackers: pitch and formant statistics with a back end trained on the pool.

    Args:
        verifier: of voice statistics.
        scenario, trials, embedder, replicates, thresholds: as for :func:`attack`.
    """
    found = []
    speakers = [recording.speaker for recording in scenario.pool]
    # The ignorant attacker trains on originals, the informed one on the system's own output.
    original, protected = scenario.original, None
    if scenario.has_protected_enrolment:
        protected = scenario.protection.with_key(scenario.key, "utterance")
    attackers: list[tuple[Comparing, Transform | None]]
    attackers = [
        (
            Ignorant() if scenario.protection.protects else Unprotected(),
            original if scenario.pool_is_original else None,
        )
    ]
    if protected is not None:
        attackers.append((LazyInformed(), protected if scenario.has_protected_pool else None))
    # within-speaker variance needs two recordings
    enough = len(speakers) > len(set(speakers)) > 1
    for attacker, transform in attackers:
        backend: Backend = verifier
        if enough and transform is not None:
            vectors, recordings = embedder.kept(verifier, scenario.pool, transform)
            backend = verifier.adapted(vectors, [recording.speaker for recording in recordings])
        scores = attacker.scores(scenario, verifier, embedder, backend)
        # a back end that is trained on anonymized speech has scores of another scale
        same_scale = isinstance(attacker, (Ignorant, Unprotected))
        threshold = thresholds.get(attacker.reference) if same_scale else None
        found.append(measured(attacker, scores, trials, verifier.name, replicates, threshold))
    return found


def measured(
    attacker: Attacker,
    scores: np.ndarray,
    trials: Trials,
    verifier: str,
    replicates: int,
    threshold: float | None = None,
) -> Attacked:
    """Figures of one attacker's scores ``[model, trial]``, and the scores.

    Args:
        attacker: of the scores.
        scores: higher for the same speaker.
        trials: the tested pairs.
        verifier: its name.
        replicates: of the bootstrap over speakers.
        threshold: fixed on original speech, for MMR and WMR; None leaves them out.

    Raises:
        ScoreError: a score that counts is NaN; it names the trial.
    """
    bad = np.argwhere(np.isnan(scores) & trials.tested)
    if len(bad):
        model, trial = bad[0]
        raise ScoreError(
            f"{attacker.name}, {verifier}: the score of {trials.models[model].name} and "
            f"{trials.recordings[trial].name} is NaN ({len(bad)} such); leave out the recording"
        )
    whole = _scores(scores, trials, replicates, threshold)
    figures = {
        **reported_metrics.measure(whole),
        **reported_metrics.measure(candidates(scores, trials, replicates)),
    }
    for condition in measurable(trials):
        own = within(trials, condition)
        for data in (
            _scores(scores, own, replicates, threshold),
            candidates(scores, own, replicates),
        ):
            figures.update(reported_metrics.of_condition(data, condition.name))
    figures.update(_means(scores, trials, replicates))
    return Attacked(
        AttackFigures(
            attacker.name,
            attacker.knows,
            verifier,
            figures,
            whole.shared(zebra).tag,
            whole.target.size,
            whole.nontarget.size,
            attacker.holds_key,
            attacker.informed,
            limits=(
                *eer_limits(whole.shared(eer), whole.trials),
                *zebra_limits(whole.trials),
                *linkability_limits(whole.shared(linkability), whole.shared(eer).value),
            ),
            chances=chance_levels.expected(trials),
            by_luck=chance_levels.by_luck(scores, trials, replicates),
        ),
        scores,
        whole.shared(eer).threshold,
    )


def _scores(
    scores: np.ndarray, trials: Trials, replicates: int, threshold: float | None = None
) -> TrialScores:
    return TrialScores(*split(scores, trials), threshold, replicates=replicates)


def _means(scores: np.ndarray, trials: Trials, replicates: int) -> dict[str, Measured]:
    """Weighted means over the parts of a benchmark."""
    parts = _measurable_parts(trials)
    own = [
        _scores(scores, Trials(trials.models, trials.recordings, part.tested), replicates)
        for part in parts
    ]
    figures = {}
    for metric in _averaged():
        assert metric.redraw is not None
        for group, places in by_group(parts).items():
            drawn = [metric.redraw(own[i]) for i in places]
            weights = [weight for i in places if (weight := parts[i].weight) is not None]
            mean = weighted_mean(drawn, weights, of_trials=True, replicates=replicates)
            name = f"{WEIGHTED} {metric.name}{group}"
            figures[name] = metric.figure(mean.value, mean.interval)
    return figures


def lacking_parts(trials: Trials) -> list[str]:
    """Note on the parts that the weighted means of attackers' rates lack, as those of
    :func:`voicenym.evaluation.measurements.condition_weights.utility`; none if each part has both
    kinds of trials.
    """
    names = " and ".join(metric.name for metric in _averaged())
    return lacking(names, trials.parts, _measurable_parts(trials)) if trials.parts else []


def _averaged() -> list[Metric[TrialScores]]:
    """Metrics of trial scores that have a weighted mean."""
    return [m for m in reported_metrics.of(TrialScores) if m.subgroups and m.redraw is not None]


def _measurable_parts(trials: Trials) -> list[Part]:
    """Parts with target and non-target trials."""
    target, nontarget = trials.target, trials.nontarget
    return [p for p in trials.parts if (p.tested & target).any() and (p.tested & nontarget).any()]


def candidates(scores: np.ndarray, trials: Trials, replicates: int = 1000) -> IdentificationScores:
    """Scores ``[model, trial]`` as a search for the speaker of each recording."""
    who = [model.speaker for model in trials.models], [r.speaker for r in trials.recordings]
    _, index = np.unique([*who[0], *who[1]], return_inverse=True)
    models, recordings = index[: len(who[0])], index[len(who[0]) :]
    return IdentificationScores(scores, trials.tested, models, recordings, replicates=replicates)


def split(scores: np.ndarray, trials: Trials) -> tuple[np.ndarray, np.ndarray, Speakers]:
    """Scores ``[model, trial]`` as target and non-target scores and their speakers."""
    names = sorted({m.speaker for m in trials.models} | {r.speaker for r in trials.recordings})
    number = {name: i for i, name in enumerate(names)}
    rows = np.array([number[m.speaker] for m in trials.models])
    columns = np.array([number[r.speaker] for r in trials.recordings])
    pairs = np.stack(np.broadcast_arrays(rows[:, None], columns[None]), axis=-1)
    target, nontarget = trials.target, trials.nontarget
    return scores[target], scores[nontarget], Speakers(pairs[target], pairs[nontarget])


def exposed(scores: np.ndarray, trials: Trials) -> tuple[Exposed, ...]:
    """Speakers by the attacker's rate of finding them, the least protected first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for column, recording in enumerate(trials.recordings):
        own = scores[trials.target[:, column], column]
        others = scores[trials.nontarget[:, column], column]
        if own.size and others.size:
            best = own.max()
            result = (float(np.all(best > others)), float(np.mean(others >= best)))
            found.setdefault(recording.speaker, []).append(result)
    speakers = [
        Exposed(speaker, *(float(v) for v in np.mean(values, axis=0)))
        for speaker, values in found.items()
    ]
    return tuple(sorted(speakers, key=lambda e: (e.rank, -e.found, e.speaker)))
