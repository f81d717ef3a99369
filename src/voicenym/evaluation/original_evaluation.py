"""Attacks on original speech, and its utility: what the figures of systems are compared with."""

from __future__ import annotations

from voicenym.attack.attacker_list import attackers
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.scenario import Scenario
from voicenym.evaluation.evaluation_session import Session, keep_scores
from voicenym.evaluation.measurements import condition_weights, distinctiveness, kept_labels
from voicenym.evaluation.measurements.protection import Attacked
from voicenym.evaluation.results import Measured

ORIGINAL = "original"
"""Name of original speech among the systems."""


def original_attacks(session: Session, scenario: Scenario) -> list[Attacked]:
    """Attacks on original speech; their thresholds, rates and scores are kept for the systems.

    Args:
        session: of the evaluation.
        scenario: of an attacker on speech that nothing protects.
    """
    plan = session.plan
    resources = Resources(normalise=plan.normalise, original_pool=plan.pool_is_original)
    comparing = attackers(resources, protected=False)
    found = [
        attacked
        for voice in session.voices
        for attacker in comparing
        for attacked in session.attacked(ORIGINAL, (), attacker, scenario, voice)
    ]
    found += session.by_statistics(ORIGINAL, ORIGINAL, scenario)
    session.keep_originals(found)
    keep_scores(session.evidence, ORIGINAL, found)
    return found


def original_utility(
    session: Session, scenario: Scenario
) -> tuple[dict[str, Measured], kept_labels.Classifiers, tuple[str, ...]]:
    """Figures of words, sound, labels and distinct voices; their evidence is kept for the systems.

    Args:
        session: of the evaluation.
        scenario: of an attacker on speech that nothing protects.

    Returns:
        The figures, the classifiers of labels, trained on original speech, and notes.
    """
    plan, evidence, voice = session.plan, session.evidence, session.voices[0]
    trials, transform = plan.trials, scenario.original
    evidence.vectors[ORIGINAL] = session.embedder(voice, trials.recordings, transform)
    useful = session.utility(ORIGINAL, ORIGINAL, transform)
    if "WER" in useful.tallies:
        evidence.words[ORIGINAL] = useful.tallies["WER"]
    weighed, lacking = condition_weights.utility(useful.tallies, trials, **session.options)
    labels = kept_labels.Classifiers(
        trials, plan.pool if plan.pool_is_original else (), transform,
        (voice, session.statistics), session.embedder, plan.replicates, session.say,
    )  # fmt: skip
    figures = {
        **useful.figures,
        **weighed,
        **labels.measure(transform),
        **distinctiveness.of_originals(evidence.vectors[ORIGINAL], trials, plan.replicates),
    }
    return figures, labels, (*useful.notes, *labels.notes, *lacking)
