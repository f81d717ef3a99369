"""Runs an evaluation: attacks and utility for each system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import voicenym
from voicenym.attack import two_branch_attacker
from voicenym.attack.attacker_list import attackers as attackers_for
from voicenym.attack.attacker_list import selected
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import CorpusError
from voicenym.evaluation import (
    attacker_sanity,
    condition_weights,
    distinctiveness,
    kept_labels,
    protection,
    speech_amount,
    utility,
)
from voicenym.evaluation.caveats import caveats, missing_files
from voicenym.evaluation.conditions import conditions, measurable
from voicenym.evaluation.evaluation_plan import Evidence, Plan, key
from voicenym.evaluation.finished_parts import FinishedParts
from voicenym.evaluation.results import Evaluation, Measured, Missed, SystemResults
from voicenym.evaluation.targets import Target, has_pool, pool_of, resources_of, targets_of
from voicenym.evaluation.usable_recordings import Sound, sound
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import verifier
from voicenym.verification.voice_statistics import VoiceStatistics


def evaluate(
    plan: Plan,
    cache: Path | None = None,
    workers: int = 1,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[int], None] | None = None,
    left_out: LeftOut = STRICT,
) -> tuple[Evaluation, Evidence]:
    """Runs a plan; vectors come from the cache of an earlier run.

    An interrupted run resumes with the same cache: finished attacks and utility figures are not
    computed again, until :func:`voicenym.evaluation.finished_parts.forget`.

    Args:
        plan: of the evaluation.
        cache: file of vectors, and of finished parts.
        workers: processes.
        say: receives a line of progress.
        progress: receives the number of recordings that were embedded.
        left_out: collects recordings that cannot be read, and those that a system fails on; the
            default raises at the first one.

    Raises:
        VoicenymError: a fault in the plan or the recordings that the user can fix.
    """
    if not plan.systems and plan.files is None:
        raise CorpusError("nothing to evaluate: name a --system, or give --anonymized files")
    if plan.normalise and len({recording.speaker for recording in plan.pool}) < 2:
        raise CorpusError("scores are normalised by those of other people: give some with --pool")
    targets = targets_of(plan)
    for target in targets:  # an attacker that is not there is refused at once
        _attackers(plan, target, say)
    with Embedder(VectorCache(cache), workers, progress, left_out) as embedder:
        voices = [verifier(name) for name in plan.verifiers]
        statistics = VoiceStatistics()
        transforms = {target.name: target.protection.transform for target in targets}
        usable = sound(plan, transforms, voices, statistics, embedder, say)
        plan = usable.plan
        evidence = Evidence(plan.trials)
        sample = plan.sampled()
        original = Scenario(
            plan.trials.models,
            plan.trials.recordings,
            Protection.nothing(plan.line),
            key(plan.seed, "attacker"),
            plan.pool,
            plan.pool_is_original,
        )
        options: dict[str, Any] = {"replicates": plan.replicates}
        parts = FinishedParts(cache, plan, say)
        bare_resources = Resources(normalise=plan.normalise, original_pool=plan.pool_is_original)
        comparing = attackers_for(bare_resources, protected=False)
        bare = [
            attacked
            for voice in voices
            for attacker in comparing
            for attacked in _attacked(
                parts, "original", (), attacker, original, plan, voice, embedder, say=say
            )
        ]
        bare += parts.attacks(
            "original: voice statistics",
            ("original", statistics),
            lambda: protection.trivial(original, plan.trials, statistics, embedder, **options),
        )
        thresholds = _thresholds(bare)
        _keep(evidence, "original", bare)
        evidence.vectors["original"] = embedder(
            voices[0], plan.trials.recordings, original.original
        )
        useful = parts.utility("original: utility", "original", lambda: utility.measure(
            sample, original.original, plan.recogniser, line=plan.line,
            transcripts=plan.transcripts.get("original"), phones=plan.phones,
            only=plan.sound, conditions=measurable(plan.trials),
            replicates=plan.replicates, say=say,
        ))  # fmt: skip
        weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **options)
        labels = kept_labels.Classifiers(
            plan.trials, plan.pool if plan.pool_is_original else (), original.original,
            (voices[0], statistics), embedder, plan.replicates, say,
        )  # fmt: skip
        weighed.update(labels.measure(original.original))
        weighed.update(
            distinctiveness.of_originals(evidence.vectors["original"], plan.trials, plan.replicates)
        )
        systems = [
            _system(
                plan, target, voices, statistics, embedder, sample,
                thresholds, evidence, usable, parts, labels, say,
            )
            for target in targets if target.name not in usable.dropped
        ]  # fmt: skip
        parts.close()
    speakers = {recording.speaker for recording in plan.trials.recordings}
    evaluation = Evaluation(
        voicenym.__version__,
        date.today().isoformat(),
        plan.data,
        len(speakers),
        len(plan.trials.recordings),
        tuple(a.figures for a in bare),
        tuple(systems),
        {**useful.figures, **weighed},
        (*usable.warnings, *plan.trials.warnings, *useful.notes, *labels.notes, *lacking),
        plan.settings,
        tuple(Missed(o.name, o.reason, o.step) for o in left_out),
        tuple(condition.size for condition in conditions(plan.trials)),
        plan.recognisers,
    )
    return evaluation, evidence


def _system(
    plan: Plan,
    target: Target,
    voices: Sequence[Verifier],
    statistics: VoiceStatistics,
    embedder: Embedder,
    sample: Sequence[Recording],
    thresholds: Mapping[str, Mapping[str, float]],
    evidence: Evidence,
    usable: Sound,
    parts: FinishedParts,
    labels: kept_labels.Classifiers,
    say: Callable[[str], None],
) -> SystemResults:
    name, protected = target.name, target.protection
    depends = (target.name, target.weights, target.parameters)
    scenario = Scenario(
        plan.trials.models,
        plan.trials.recordings,
        protected,
        key(plan.seed, "attacker"),
        pool_of(plan, target),
        plan.pool_is_original,
    )
    attackers, taught = _attackers(plan, target, say)
    obstacles = {a: why for a in (*attackers, *taught) if (why := a.obstacle(scenario))}
    attackers, taught = ([a for a in some if a not in obstacles] for some in (attackers, taught))
    options: dict[str, Any] = {"replicates": plan.replicates}
    found = []
    for voice in voices:
        for attacker in attackers:
            found += _attacked(
                parts, name, depends, attacker, scenario, plan, voice, embedder,
                thresholds=thresholds.get(voice.name, {}), say=say,
            )  # fmt: skip
    for attacker in taught:
        found += _attacked(
            parts, name, depends, attacker, scenario, plan, voices[0], embedder, say=say
        )
    if not plan.only:
        known = thresholds.get(statistics.name, {})
        found += parts.attacks(
            f"{name}: voice statistics",
            (depends, statistics, known),
            lambda: protection.trivial(
                scenario, plan.trials, statistics, embedder, **options, thresholds=known
            ),
        )
    if plan.sanity:
        found = attacker_sanity.checked(
            found, [*attackers, *taught], scenario, plan.trials, voices, embedder,
            key(plan.seed, "user"), say, parts, depends,
        )  # fmt: skip
    _keep(evidence, name, found)
    evidence.vectors[name] = embedder(voices[0], plan.trials.recordings, protected.transform)
    matrices, distinct = distinctiveness.measure(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, plan.replicates
    )
    evidence.matrices[name] = matrices
    useful = parts.utility(f"{name}: utility", depends, lambda: utility.measure(
        sample, protected.transform, plan.recogniser, line=plan.line,
        transcripts=plan.transcripts.get(name), retrained=plan.retrained.get(name),
        phones=plan.phones, only=plan.sound, conditions=measurable(plan.trials),
        replicates=plan.replicates, say=say,
    ))  # fmt: skip
    if "WER" in useful.tallies:
        evidence.words[name] = useful.tallies["WER"]
    weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **options)
    weighed_voices, missing = condition_weights.distinctiveness(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, **options
    )
    figures: dict[str, Measured] = {**useful.figures, **distinct, **weighed, **weighed_voices}
    figures.update(labels.measure(protected.transform))
    attacks = tuple(attacked.figures for attacked in found)
    evident = [a for a in found if not (a.figures.holds_key or a.figures.broken)]
    strongest = min(evident, key=lambda a: a.figures.eer.value, default=None)
    return SystemResults(
        name,
        target.title,
        target.parameters,
        protected.per,
        attacks,
        figures,
        () if strongest is None else protection.exposed(strongest.scores, plan.trials),
        (
            *caveats(attacks, statistics.name, target.system, has_pool(plan, target), plan.only),
            *(missing_files(resources_of(plan, target)) if target.system is None else ()),
            *(plan.file_notes if target.system is None else ()),
            *(() if plan.only else two_branch_attacker.untried(plan.attacker_training)),
            *attacker_sanity.notes(attacks, target.voices),
            *obstacles.values(),
            *useful.notes,
            *lacking,
            *missing,
        ),
        usable.failed.get(name, 0),
        target.weights,
        speech_amount.of_system(
            attackers, strongest, scenario, plan.trials, voices[0], embedder, plan.replicates
        ),
        target.voices.used,
    )


def _attacked(
    parts: FinishedParts,
    name: str,
    depends: Any,
    attacker: Attacker,
    scenario: Scenario,
    plan: Plan,
    voice: Verifier,
    embedder: Embedder,
    *,
    thresholds: Mapping[str, float] = protection.NO_THRESHOLDS,
    say: Callable[[str], None],
) -> list[protection.Attacked]:
    """Attack of one attacker with one verifier, or that of an interrupted run."""
    return parts.attacks(
        f"{name}: {attacker.name}, {attacker.verifier_name(voice)}",
        (name, depends, attacker, attacker.settings(), voice, thresholds.get(attacker.reference)),
        lambda: protection.attack(
            [attacker], scenario, plan.trials, voice, embedder,
            replicates=plan.replicates, thresholds=thresholds, say=say,
        ),
    )  # fmt: skip


def _attackers(
    plan: Plan, target: Target, say: Callable[[str], None]
) -> tuple[list[Attacker], list[Attacker]]:
    """Attackers that run with every verifier, and those that train their own.

    Raises:
        VoicenymError: the plan names none of them, or only those with the key.
    """
    resources = resources_of(plan, target, say)
    chosen = selected(attackers_for(resources), plan.only)
    return (
        [attacker for attacker in chosen if not attacker.trains_verifier],
        [attacker for attacker in chosen if attacker.trains_verifier],
    )


def _thresholds(bare: Sequence[protection.Attacked]) -> dict[str, dict[str, float]]:
    """Thresholds of equal errors on original speech, by verifier and attacker."""
    found: dict[str, dict[str, float]] = {}
    for a in bare:
        found.setdefault(a.figures.verifier, {})[a.figures.attacker] = a.threshold
    return found


def _keep(evidence: Evidence, name: str, found: Sequence[protection.Attacked]) -> None:
    """Keep scores for figures: as they are of the strongest attacker, which comparisons need too,
    and in single precision of the others, which are drawn only.
    """
    without_key = [a for a in found if not a.figures.holds_key]
    exact = min(without_key, key=lambda a: (a.figures.broken, a.figures.eer.value), default=None)
    evidence.scores[name] = {
        f"{a.figures.attacker}, {a.figures.verifier}": a.scores
        if a is exact
        else a.scores.astype(np.float32)
        for a in found
    }
