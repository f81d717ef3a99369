"""Runs an evaluation: attacks and utility for each system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

import voicenym
from voicenym.attack.scenario import Protection
from voicenym.attack.searches.key_search import KeySearch
from voicenym.corpus.batches.engines import LOCAL, Engine
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import CorpusError
from voicenym.evaluation.evaluation_plan import Evidence, Plan
from voicenym.evaluation.evaluation_session import Session
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.measurements.finished_parts import FinishedParts
from voicenym.evaluation.original_evaluation import original_attacks, original_utility
from voicenym.evaluation.results import Evaluation, Missed, SystemResults
from voicenym.evaluation.system_evaluation import attackers_of, system_results
from voicenym.evaluation.targets import targets_of
from voicenym.evaluation.trial_plans.conditions import conditions
from voicenym.evaluation.trial_plans.repeated_sound import repeated
from voicenym.evaluation.usable_recordings import sound
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import verifier
from voicenym.verification.voice_statistics import VoiceStatistics


def evaluate(
    plan: Plan,
    cache: Path | None = None,
    workers: int = 1,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[int], None] | None = None,
    left_out: LeftOut = STRICT,
    engine: Engine = LOCAL,
) -> tuple[Evaluation, Evidence]:
    """Runs a plan; vectors come from the cache of an earlier run.

    An interrupted run resumes with the same cache: finished attacks and utility figures are not
    computed again, until :func:`voicenym.evaluation.measurements.finished_parts.forget`.

    Args:
        plan: of the evaluation.
        cache: file of vectors, and of finished parts.
        workers: processes.
        say: receives a line of progress.
        progress: receives the number of recordings that were embedded.
        left_out: collects recordings that cannot be read, and those that a system fails on; the
            default raises at the first one.
        engine: of the workers that anonymize and embed recordings; attackers are trained, and words
            are recognised, in this process.

    Raises:
        VoicenymError: a fault in the plan or the recordings that the user can fix.
    """
    if not plan.systems and plan.files is None:
        raise CorpusError("nothing to evaluate: name a --system, or give --anonymized files")
    if plan.normalise and len({recording.speaker for recording in plan.pool}) < 2:
        raise CorpusError("scores are normalised by those of other people: give some with --pool")
    targets = targets_of(plan)
    for target in targets:  # an attacker that is not there is refused at once
        attackers_of(plan, target, say)
    with Embedder(VectorCache(cache), workers, progress, left_out, engine) as embedder:
        voices = [verifier(name).on(plan.device) for name in plan.verifiers]
        statistics = VoiceStatistics()
        transforms = {target.name: target.protection.transform for target in targets}
        usable = sound(plan, transforms, voices, statistics, embedder, say)
        plan = usable.plan
        parts = FinishedParts(cache, plan, say, left_out)
        session = Session(plan, voices, statistics, embedder, parts, say)
        bare = session.scenario(Protection.nothing(plan.line), plan.pool)
        unprotected = original_attacks(session, bare)
        figures, labels, notes = original_utility(session, bare)
        systems = [
            system_results(session, target, labels, usable.failed.get(target.name, 0))
            for target in targets
            if target.name not in usable.dropped
        ]
        parts.close()
    recordings = plan.trials.recordings
    evaluation = Evaluation(
        version=voicenym.__version__,
        date=date.today().isoformat(),
        data=plan.data,
        speakers=len({recording.speaker for recording in recordings}),
        recordings=len(recordings),
        unprotected=tuple(attacked.figures for attacked in unprotected),
        systems=tuple(systems),
        utility=figures,
        warnings=(
            *usable.warnings,
            *plan.trials.warnings,
            *repeated(plan.trials, plan.pool),
            *protection.lacking_parts(plan.trials),
            *notes,
        ),
        settings=_settings(plan, systems),
        left_out=tuple(Missed(one.name, one.reason, one.step) for one in left_out),
        conditions=tuple(condition.size for condition in conditions(plan.trials)),
        recognisers=plan.recognisers,
    )
    return evaluation, session.evidence


def _settings(plan: Plan, systems: Sequence[SystemResults]) -> str:
    """Settings in words, with the number of keys where a search tried them."""
    searched = any(attack.attacker == KeySearch.name for one in systems for attack in one.attacks)
    return f"{plan.settings}, {plan.keys} keys searched" if searched else plan.settings
