"""Attacks on one system, and its utility."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from voicenym.attack.attacker_list import attackers as attackers_for
from voicenym.attack.attacker_list import selected
from voicenym.attack.attackers import Attacker
from voicenym.attack.scenario import Scenario
from voicenym.attack.trained import two_branch_attacker
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.recording import Recording
from voicenym.evaluation.caveats import caveats, missing_files, omissions
from voicenym.evaluation.evaluation_plan import Plan, key
from voicenym.evaluation.evaluation_session import Session, keep_scores
from voicenym.evaluation.measurements import (
    attacker_sanity,
    condition_weights,
    distinctiveness,
    kept_labels,
    protection,
    speech_amount,
)
from voicenym.evaluation.measurements.protection import Attacked
from voicenym.evaluation.results import Measured, SystemResults
from voicenym.evaluation.targets import Target, pool_of, resources_of


def system_results(
    session: Session, target: Target, labels: kept_labels.Classifiers, failed: int
) -> SystemResults:
    """Results of one system.

    Args:
        session: of the evaluation, with thresholds and vectors of original speech.
        target: the system.
        labels: classifiers of emotion and accent.
        failed: recordings that the system failed on.
    """
    plan, name = session.plan, target.name
    scenario = session.scenario(target.protection, pool_of(plan, target))
    attackers, taught = attackers_of(plan, target, session.say)
    obstacles = {a: why for a in (*attackers, *taught) if (why := a.obstacle(scenario))}
    attackers, taught = ([a for a in some if a not in obstacles] for some in (attackers, taught))
    found = _attacks(session, target, scenario, attackers, taught)
    keep_scores(session.evidence, name, found)
    figures, remarks = _utility(session, target, labels)
    attacks = tuple(attacked.figures for attacked in found)
    evident = [a for a in found if not (a.figures.holds_key or a.figures.broken)]
    strongest = min(evident, key=lambda a: a.figures.eer.value, default=None)
    from_files = target.system is None
    resources = resources_of(plan, target)
    omitted = omissions(attacks, resources, plan.only)
    if not plan.only:
        omitted += two_branch_attacker.untried(plan.attacker_training)
    return SystemResults(
        name=name,
        title=target.title,
        parameters=target.parameters,
        per=target.protection.per,
        attacks=attacks,
        utility=figures,
        exposed=() if strongest is None else protection.exposed(strongest.scores, plan.trials),
        notes=(
            *omitted,
            *caveats(attacks, session.statistics.name, plan.only),
            *((*missing_files(resources), *plan.file_notes) if from_files else ()),
            *attacker_sanity.notes(attacks, target.voices),
            *obstacles.values(),
            *remarks,
        ),
        left_out=failed,
        weights=target.weights,
        amounts=speech_amount.of_system(
            attackers, strongest, scenario, plan.trials, session.voices[0], session.embedder,
            plan.replicates,
        ),
        targets=target.voices.used,
        files=published_digests(plan) if from_files else (),
        upper_bound=bool(omitted) or any(not attacker.holds_key for attacker in obstacles),
        own_weights=None if from_files else target.own_weights,
    )  # fmt: skip


def _depends(target: Target) -> tuple[Any, ...]:
    """Values on which the figures of a system depend."""
    return (target.name, target.weights, target.parameters, target.attackers_weights)


def _attacks(
    session: Session,
    target: Target,
    scenario: Scenario,
    attackers: Sequence[Attacker],
    taught: Sequence[Attacker],
) -> list[Attacked]:
    """Attacks on a system, with their controls where the plan asks for them.

    Args:
        session: of the evaluation.
        target: the system.
        scenario: what the attackers have.
        attackers: run with every verifier.
        taught: train a verifier of their own.
    """
    plan, voices = session.plan, session.voices
    name, depends = target.name, _depends(target)
    runs = [(attacker, voice) for voice in voices for attacker in attackers]
    runs += [(attacker, voices[0]) for attacker in taught]
    found: list[Attacked] = []
    for attacker, voice in runs:
        found += session.attacked(name, depends, attacker, scenario, voice)
    if not plan.only:
        found += session.by_statistics(name, depends, scenario)
    if not plan.sanity:
        return found
    return attacker_sanity.checked(
        found, [*attackers, *taught], scenario, plan.trials, voices, session.embedder,
        key(plan.seed, "user"), session.say, session.parts, depends, session.originals,
    )  # fmt: skip


def _utility(
    session: Session, target: Target, labels: kept_labels.Classifiers
) -> tuple[dict[str, Measured], tuple[str, ...]]:
    """Figures of words, sound, distinct voices and labels, with notes; keeps their evidence.

    Args:
        session: of the evaluation.
        target: the system.
        labels: classifiers of emotion and accent.
    """
    plan, evidence, name = session.plan, session.evidence, target.name
    transform = target.protection.transform
    before = evidence.vectors["original"]
    after = session.embedder(session.voices[0], plan.trials.recordings, transform)
    evidence.vectors[name] = after
    matrices, distinct = distinctiveness.measure(before, after, plan.trials, plan.replicates)
    unknown = distinctiveness.unknown(plan.trials)
    if not unknown:
        evidence.matrices[name] = matrices
    useful = session.utility(name, _depends(target), transform, retrained=plan.retrained.get(name))
    if "WER" in useful.tallies:
        evidence.words[name] = useful.tallies["WER"]
    weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **session.options)
    voices, missing = condition_weights.distinctiveness(
        before, after, plan.trials, **session.options
    )
    kept = labels.measure(transform)
    figures = {**useful.figures, **distinct, **weighed, **voices, **kept}
    return figures, (*useful.notes, *unknown, *lacking, *missing)


def published_digests(plan: Plan) -> tuple[str, ...]:
    """SHA-256 of the files that trials use, sorted; of whole files, also for parts of them."""
    files = [(plan.files or {}).get(recording.name) for recording in plan.trials.recordings]
    paths = {one.path if isinstance(one, Recording) else one for one in files if one is not None}
    return tuple(sorted({sha256_of(path) for path in paths if path.is_file()}))


def attackers_of(
    plan: Plan, target: Target, say: Callable[[str], None]
) -> tuple[Sequence[Attacker], Sequence[Attacker]]:
    """Attackers that run with every verifier, and those that train their own.

    Raises:
        VoicenymError: the plan names none of them, or only those with the key.
    """
    resources = resources_of(plan, target, say)
    chosen = selected(attackers_for(resources), plan.only, resources)
    return (
        [attacker for attacker in chosen if not attacker.trains_verifier],
        [attacker for attacker in chosen if attacker.trains_verifier],
    )
