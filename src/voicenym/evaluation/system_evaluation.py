"""Attacks on one system, and its utility."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from voicenym.attack.attacker_list import attackers as attackers_for
from voicenym.attack.attacker_list import selected
from voicenym.attack.attackers import Attacker
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
    plan, evidence, voices = session.plan, session.evidence, session.voices
    name, protected = target.name, target.protection
    depends = (target.name, target.weights, target.parameters, target.attackers_weights)
    scenario = session.scenario(protected, pool_of(plan, target))
    attackers, taught = attackers_of(plan, target, session.say)
    obstacles = {a: why for a in (*attackers, *taught) if (why := a.obstacle(scenario))}
    attackers, taught = ([a for a in some if a not in obstacles] for some in (attackers, taught))
    found = []
    for voice in voices:
        for attacker in attackers:
            found += session.attacked(name, depends, attacker, scenario, voice)
    for attacker in taught:
        found += session.attacked(name, depends, attacker, scenario, voices[0])
    if not plan.only:
        found += session.by_statistics(name, depends, scenario)
    if plan.sanity:
        found = attacker_sanity.checked(
            found, [*attackers, *taught], scenario, plan.trials, voices, session.embedder,
            key(plan.seed, "user"), session.say, session.parts, depends, session.originals,
        )  # fmt: skip
    keep_scores(evidence, name, found)
    evidence.vectors[name] = session.embedder(
        voices[0], plan.trials.recordings, protected.transform
    )
    before, after = evidence.vectors["original"], evidence.vectors[name]
    matrices, distinct = distinctiveness.measure(before, after, plan.trials, plan.replicates)
    evidence.matrices[name] = matrices
    useful = session.utility(name, depends, protected.transform, retrained=plan.retrained.get(name))
    if "WER" in useful.tallies:
        evidence.words[name] = useful.tallies["WER"]
    weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **session.options)
    weighed_voices, missing = condition_weights.distinctiveness(
        before, after, plan.trials, **session.options
    )
    figures: dict[str, Measured] = {**useful.figures, **distinct, **weighed, **weighed_voices}
    figures.update(labels.measure(protected.transform))
    attacks = tuple(attacked.figures for attacked in found)
    evident = [a for a in found if not (a.figures.holds_key or a.figures.broken)]
    strongest = min(evident, key=lambda a: a.figures.eer.value, default=None)
    from_files = target.system is None
    resources = resources_of(plan, target)
    omitted = omissions(attacks, resources, plan.only)
    if not plan.only:
        omitted += two_branch_attacker.untried(plan.attacker_training)
    return SystemResults(
        name,
        target.title,
        target.parameters,
        protected.per,
        attacks,
        figures,
        () if strongest is None else protection.exposed(strongest.scores, plan.trials),
        (
            *omitted,
            *caveats(attacks, session.statistics.name, plan.only),
            *(missing_files(resources) if from_files else ()),
            *(plan.file_notes if from_files else ()),
            *attacker_sanity.notes(attacks, target.voices),
            *obstacles.values(),
            *useful.notes,
            *lacking,
            *missing,
        ),
        failed,
        target.weights,
        speech_amount.of_system(
            attackers, strongest, scenario, plan.trials, voices[0], session.embedder,
            plan.replicates,
        ),
        target.voices.used,
        published_digests(plan) if from_files else (),
        bool(omitted) or any(not attacker.holds_key for attacker in obstacles),
        None if from_files else target.own_weights,
    )  # fmt: skip


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
