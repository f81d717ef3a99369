"""Runs an evaluation: attacks and utility for each system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import voicenym
from voicenym.anonymizer import load
from voicenym.attack.attacker_list import attackers as attackers_for
from voicenym.attack.attacker_list import selected
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.attackers import Attacker
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import FILES
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import CorpusError, VoicenymError
from voicenym.evaluation import (
    condition_weights,
    distinctiveness,
    protection,
    speech_amount,
    utility,
)
from voicenym.evaluation.caveats import caveats, missing_files
from voicenym.evaluation.conditions import conditions, measurable
from voicenym.evaluation.evaluation_plan import Evidence, Plan, key
from voicenym.evaluation.results import Evaluation, Measured, Missed, SystemResults
from voicenym.evaluation.system_settings import changed, label
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
    """Run a plan; vectors are taken from the cache of an earlier run.

    Args:
        plan: what to do.
        cache: file of vectors.
        workers: processes.
        say: receives a line of progress.
        progress: receives the number of recordings that were embedded.
        left_out: collects recordings that cannot be read, and those that a system fails on; the
            default raises at the first one.

    Raises:
        VoicenymError: whatever in the plan or the recordings a user can mend.
    """
    if not plan.systems and plan.files is None:
        raise CorpusError("nothing to evaluate: name a --system, or give --anonymized files")
    if plan.normalise and len({recording.speaker for recording in plan.pool}) < 2:
        raise CorpusError("scores are normalised by those of other people: give some with --pool")
    targets = _targets(plan)
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
        bare_resources = Resources(normalise=plan.normalise, original_pool=plan.pool_is_original)
        comparing = attackers_for(bare_resources, protected=False)
        bare = [
            attacked
            for voice in voices
            for attacked in protection.attack(
                comparing, original, plan.trials, voice, embedder, **options, say=say
            )
        ]
        bare += protection.trivial(original, plan.trials, statistics, embedder, **options)
        thresholds = _thresholds(bare)
        _keep(evidence, "original", bare)
        evidence.vectors["original"] = embedder(
            voices[0], plan.trials.recordings, original.original
        )
        useful = utility.measure(
            sample, original.original, plan.recogniser, line=plan.line,
            transcripts=plan.transcripts.get("original"), phones=plan.phones,
            only=plan.sound, conditions=measurable(plan.trials),
            replicates=plan.replicates, say=say,
        )  # fmt: skip
        weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **options)
        weighed.update(
            distinctiveness.of_originals(evidence.vectors["original"], plan.trials, plan.replicates)
        )
        systems = [
            _system(
                plan, target, voices, statistics, embedder, sample,
                thresholds, evidence, usable, say,
            )
            for target in targets if target.name not in usable.dropped
        ]  # fmt: skip
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
        (*usable.warnings, *plan.trials.warnings, *useful.notes, *lacking),
        plan.settings,
        tuple(Missed(o.name, o.reason, o.step) for o in left_out),
        tuple(condition.size for condition in conditions(plan.trials)),
        plan.recognisers,
    )
    return evaluation, evidence


@dataclass(frozen=True)
class Target:
    """What is evaluated: a system with settings, or files of an external system.

    Args:
        name: in the report, with the settings.
        title: one line.
        protection: of the trials.
        weights: version of the system's weights.
    """

    name: str
    title: str
    protection: Protection
    weights: str = ""

    @property
    def system(self) -> str | None:
        """The system without its settings; None where attackers cannot run it."""
        return self.protection.system

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings of the system that differ from its defaults."""
        return dict(self.protection.parameters)


def _targets(plan: Plan) -> list[Target]:
    """All that a plan evaluates.

    Raises:
        VoicenymError: an unknown system or setting; the same system and settings twice.
    """
    targets = [_target(plan, name, parameters) for name, parameters in plan.systems]
    if plan.files is not None:
        title = "files that were anonymized elsewhere"
        files = Protection.by_files(plan.files, plan.attackers_files, plan.line)
        targets.append(Target(FILES, title, files))
    name, count = Counter(target.name for target in targets).most_common(1)[0]
    if count > 1:
        raise VoicenymError(f"{name} is evaluated {count} times; name each system and setting once")
    return targets


def _target(plan: Plan, name: str, parameters: Mapping[str, Any]) -> Target:
    parameters = changed(name, parameters)
    system = load(name, **parameters)
    user = key(plan.seed, "user")
    settings = tuple(sorted(parameters.items()))
    protected = Protection.by(name, user, plan.per, settings, plan.line)
    called = label(name, parameters, system.version)
    return Target(called, system.card.title, protected, system.version)


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
    say: Callable[[str], None],
) -> SystemResults:
    name, protected = target.name, target.protection
    scenario = Scenario(
        plan.trials.models,
        plan.trials.recordings,
        protected,
        key(plan.seed, "attacker"),
        _pool(plan, target),
        plan.pool_is_original,
    )
    attackers, taught = _attackers(plan, target, say)
    obstacles = {a: why for a in (*attackers, *taught) if (why := a.obstacle(scenario))}
    attackers, taught = ([a for a in some if a not in obstacles] for some in (attackers, taught))
    options: dict[str, Any] = {"replicates": plan.replicates}
    found = []
    for voice in voices:
        found += protection.attack(
            attackers, scenario, plan.trials, voice, embedder,
            **options, thresholds=thresholds.get(voice.name, {}), say=say,
        )  # fmt: skip
    if taught:
        found += protection.attack(
            taught, scenario, plan.trials, voices[0], embedder, **options, say=say
        )
    if not plan.only:
        found += protection.trivial(
            scenario, plan.trials, statistics, embedder,
            **options, thresholds=thresholds.get(statistics.name, {}),
        )  # fmt: skip
    _keep(evidence, name, found)
    evidence.vectors[name] = embedder(voices[0], plan.trials.recordings, protected.transform)
    matrices, distinct = distinctiveness.measure(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, plan.replicates
    )
    evidence.matrices[name] = matrices
    useful = utility.measure(
        sample, protected.transform, plan.recogniser, line=plan.line,
        transcripts=plan.transcripts.get(name), retrained=plan.retrained.get(name),
        phones=plan.phones, only=plan.sound, conditions=measurable(plan.trials),
        replicates=plan.replicates, say=say,
    )  # fmt: skip
    if "WER" in useful.tallies:
        evidence.words[name] = useful.tallies["WER"]
    weighed, lacking = condition_weights.utility(useful.tallies, plan.trials, **options)
    weighed_voices, missing = condition_weights.distinctiveness(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, **options
    )
    figures: dict[str, Measured] = {**useful.figures, **distinct, **weighed, **weighed_voices}
    attacks = tuple(attacked.figures for attacked in found)
    strongest = min(
        (a for a in found if not a.figures.holds_key), key=lambda a: a.figures.eer.value
    )
    return SystemResults(
        name,
        target.title,
        target.parameters,
        plan.per,
        attacks,
        figures,
        protection.exposed(strongest.scores, plan.trials),
        (
            *caveats(attacks, statistics.name, target.system, _trains(plan, target), plan.only),
            *(missing_files(_resources(plan, target)) if target.system is None else ()),
            *(plan.file_notes if target.system is None else ()),
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
    )


def _pool(plan: Plan, target: Target) -> tuple[Recording, ...]:
    """Speech of other people; a system is not run on what another one has anonymized."""
    return plan.pool if plan.pool_is_original or target.system is None else ()


def _trains(plan: Plan, target: Target) -> bool:
    return len({recording.speaker for recording in _pool(plan, target)}) > 1


def _resources(
    plan: Plan, target: Target, say: Callable[[str], None] = lambda text: None
) -> Resources:
    """What is available to the attackers on a target."""
    pool = _pool(plan, target)
    enrolment = [recording for model in plan.trials.models for recording in model.recordings]

    def there(recordings: Sequence[Recording]) -> bool:
        return bool(recordings) and all(r.name in plan.attackers_files for r in recordings)

    return Resources(
        target.system,
        target.parameters,
        tuple(plan.denoisers),
        plan.keys,
        len(pool),
        len({recording.speaker for recording in pool}),
        plan.normalise,
        plan.attacker_training,
        say,
        there(enrolment),
        there(pool),
        plan.published_enrolment or target.system is not None,
        plan.pool_is_original,
    )


def _attackers(
    plan: Plan, target: Target, say: Callable[[str], None]
) -> tuple[list[Attacker], list[Attacker]]:
    """Attackers that run with every verifier, and those that train their own.

    Raises:
        VoicenymError: the plan asks for none of them, or for those who hold the key alone.
    """
    resources = _resources(plan, target, say)
    chosen = selected(attackers_for(resources), plan.only)
    return (
        [attacker for attacker in chosen if not attacker.trains_verifier],
        [attacker for attacker in chosen if attacker.trains_verifier],
    )


def _thresholds(bare: Sequence[protection.Attacked]) -> dict[str, dict[str, float]]:
    """Of equal errors on original speech, by verifier and attacker."""
    found: dict[str, dict[str, float]] = {}
    for a in bare:
        found.setdefault(a.figures.verifier, {})[a.figures.attacker] = a.threshold
    return found


def _keep(evidence: Evidence, name: str, found: Sequence[protection.Attacked]) -> None:
    evidence.scores[name] = {f"{a.figures.attacker}, {a.figures.verifier}": a.scores for a in found}
