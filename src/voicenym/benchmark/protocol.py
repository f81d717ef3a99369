"""An evaluation: trials, attacks, utility, for each system."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import voicenym
from voicenym.attack.attackers import Attacker, Unprotected
from voicenym.attack.cache import VectorCache
from voicenym.attack.case import Case, Protection
from voicenym.attack.embedder import Embedder
from voicenym.attack.interface import Verifier
from voicenym.attack.normalised import SUFFIX, Normalised
from voicenym.attack.retrained import Lesson, SemiInformed, SemiInformedStatistics
from voicenym.attack.search import UnprotectedPerTrial, line_up
from voicenym.attack.transform import ORIGINAL, Instead, Transform
from voicenym.attack.trivial import VoiceStatistics
from voicenym.attack.verifier import verifier
from voicenym.benchmark import distinctiveness, diversity, protection, utility, weights
from voicenym.benchmark.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.benchmark.trials import Trials
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import spread
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key
from voicenym.recognition import Recogniser, Transcripts
from voicenym.system import load

LEAST_FOR_STATISTICS = 100
"""Recordings of other people below which i-vectors are not trained."""
STILL_LEARNING = 1.1
"""By how much the best error rate of the first three quarters of a training may exceed that of the
whole; else more time would have helped."""
FILES = "files"
"""Name of what somebody else anonymized."""


@dataclass(frozen=True)
class Plan:
    """What is to be evaluated, and how.

    Args:
        data: what it is made on, in a line for the report.
        trials: who is compared with whom.
        settings: how it was done, in a line for the report.
        pool: recordings of other people, for attackers who train.
        systems: names and parameters.
        files: anonymized files by utterance, of somebody else's system.
        verifiers: names of the attackers' verifiers; each attacker runs with each. Figures that
            need vectors alone, such as distinctiveness, are the first one's.
        denoisers: names, for V-Cloak's A2.
        keys: of the key search.
        lesson: how the semi-informed attacker trains its verifier; None if it does not.
        normalise: also normalise the scores of those who compare, by AS-norm against the pool.
        per: voices per speaker or utterance.
        recogniser: for words; None leaves them out.
        transcripts: of somebody else's recogniser, by system (``original`` for none).
        retrained: by system, a recogniser that learnt from its output.
        sample: recordings that utility is measured on.
        replicates: of the bootstrap.
        seed: of draws and of the keys.
    """

    data: str
    trials: Trials
    settings: str = ""
    pool: tuple[Recording, ...] = ()
    systems: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    files: Mapping[str, Path] | None = None
    verifiers: tuple[str, ...] = ("resemblyzer",)
    denoisers: tuple[str, ...] = ()
    keys: int = 24
    lesson: Lesson | None = None
    normalise: bool = False
    per: str = "speaker"
    recogniser: Recogniser | None = None
    transcripts: Mapping[str, Transcripts] = field(default_factory=dict)
    retrained: Mapping[str, Recogniser] = field(default_factory=dict)
    sample: int = 60
    replicates: int = 1000
    seed: int = 0


@dataclass
class Evidence:
    """What the report draws: scores and vectors behind the figures.

    Args:
        scores: ``[model, trial]`` by system (``original`` for none) and ``attacker, verifier``.
        vectors: ``[trial, dimension]`` of the trials as published, by system.
        matrices: voice similarity ``oo``, ``oa``, ``aa`` by system.
        words: errors of the recogniser by recording, by system.
    """

    trials: Trials
    scores: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)
    matrices: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)
    words: dict[str, utility.Tally] = field(default_factory=dict)


def key(seed: int, who: str) -> Key:
    """A key of an evaluation: no secret, since nothing that it makes is published."""
    return Key(hashlib.sha256(f"voicenym evaluation {seed} {who}".encode()).digest())


def evaluate(
    plan: Plan,
    cache: Path | None = None,
    workers: int = 1,
    say: Callable[[str], None] = lambda text: None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Evaluation, Evidence]:
    """Run a plan; what was embedded in an earlier run with the same cache is not done again.

    Args:
        plan: what to do.
        cache: file of vectors.
        workers: processes.
        say: told what is being done.
        progress: told how many recordings were embedded.

    Raises:
        VoicenymError: whatever in the plan or the recordings a user can mend.
    """
    if not plan.systems and plan.files is None:
        raise CorpusError("nothing to evaluate: name a --system, or give --anonymized files")
    if plan.normalise and len({recording.speaker for recording in plan.pool}) < 2:
        raise CorpusError("scores are normalised by those of other people: give some with --pool")
    evidence = Evidence(plan.trials)
    sample = _sample(plan)
    with Embedder(VectorCache(cache), workers, progress) as embedder:
        voices = [verifier(name) for name in plan.verifiers]
        statistics = VoiceStatistics()
        original = Case(
            plan.trials.models,
            plan.trials.recordings,
            Protection(Transform()),
            key(plan.seed, "attacker"),
            plan.pool,
        )
        options: dict[str, Any] = {"replicates": plan.replicates}
        comparing: list[Attacker] = [Unprotected(), UnprotectedPerTrial()]
        if plan.normalise:
            comparing.append(Normalised(Unprotected()))
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
        evidence.vectors["original"] = embedder(voices[0], plan.trials.recordings, ORIGINAL)
        heard = utility.hear(
            sample, ORIGINAL, plan.recogniser,
            transcripts=plan.transcripts.get("original"), replicates=plan.replicates, say=say,
        )  # fmt: skip
        weighed, lacking = weights.utility(heard.tallies, plan.trials, **options)
        before = evidence.vectors["original"]
        weighed.update(diversity.figures(before, before, plan.trials))
        systems = [
            _system(
                plan, name, parameters, voices, statistics, embedder, sample, thresholds, evidence,
                say,
            )
            for name, parameters in _targets(plan)
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
        {**heard.figures, **weighed},
        (*plan.trials.warnings, *heard.notes, *lacking),
        plan.settings,
    )
    return evaluation, evidence


def _targets(plan: Plan) -> list[tuple[str, Mapping[str, Any]]]:
    return [*plan.systems, *([(FILES, {})] if plan.files is not None else [])]


def _system(
    plan: Plan,
    name: str,
    parameters: Mapping[str, Any],
    voices: Sequence[Verifier],
    statistics: VoiceStatistics,
    embedder: Embedder,
    sample: Sequence[Recording],
    thresholds: Mapping[str, Mapping[str, float]],
    evidence: Evidence,
    say: Callable[[str], None],
) -> SystemResults:
    if name == FILES:
        assert plan.files is not None
        protected = Protection(Transform((Instead(plan.files),)))
        title, attackers_system = "files that were anonymized elsewhere", None
    else:
        title, attackers_system = load(name, **parameters).card.title, name
        user = key(plan.seed, "user")
        protected = Protection.by(name, user, plan.per, tuple(sorted(parameters.items())))
    case = Case(
        plan.trials.models,
        plan.trials.recordings,
        protected,
        key(plan.seed, "attacker"),
        plan.pool,
    )
    trains = len({recording.speaker for recording in plan.pool}) > 1
    attackers = line_up(
        attackers_system, parameters, plan.denoisers, plan.keys, trains, plan.normalise
    )
    options: dict[str, Any] = {"replicates": plan.replicates}
    found = []
    for voice in voices:
        found += protection.attack(
            attackers, case, plan.trials, voice, embedder,
            **options, thresholds=thresholds.get(voice.name, {}), say=say,
        )  # fmt: skip
    taught: list[Attacker] = []
    if plan.lesson is not None and attackers_system is not None:
        if len(plan.pool) >= LEAST_FOR_STATISTICS:
            taught.append(SemiInformedStatistics(plan.lesson, say))
        if trains and plan.lesson.seconds > 0.0:
            taught.append(SemiInformed(plan.lesson, say))
    if taught:
        found += protection.attack(
            taught, case, plan.trials, voices[0], embedder, **options, say=say
        )
    found += protection.trivial(
        case, plan.trials, statistics, embedder,
        **options, thresholds=thresholds.get(statistics.name, {}),
    )  # fmt: skip
    _keep(evidence, name, found)
    evidence.vectors[name] = embedder(voices[0], plan.trials.recordings, protected.transform)
    matrices, distinct = distinctiveness.measure(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, plan.replicates
    )
    evidence.matrices[name] = matrices
    heard = utility.hear(
        sample, protected.transform, plan.recogniser,
        transcripts=plan.transcripts.get(name), retrained=plan.retrained.get(name),
        replicates=plan.replicates, say=say,
    )  # fmt: skip
    if "WER" in heard.tallies:
        evidence.words[name] = heard.tallies["WER"]
    weighed, lacking = weights.utility(heard.tallies, plan.trials, **options)
    apart, missing = weights.distinctiveness(
        evidence.vectors["original"], evidence.vectors[name], plan.trials, **options
    )
    diverse = diversity.figures(evidence.vectors["original"], evidence.vectors[name], plan.trials)
    figures: dict[str, Measured] = {**heard.figures, **distinct, **diverse, **weighed, **apart}
    attacks = tuple(attacked.figures for attacked in found)
    strongest = min(
        (a for a in found if not a.figures.holds_key), key=lambda a: a.figures.eer.value
    )
    return SystemResults(
        name,
        title,
        dict(parameters),
        plan.per,
        attacks,
        figures,
        protection.exposed(strongest.scores, plan.trials),
        (
            *_notes(attacks, statistics.name, attackers_system, trains),
            *_untrained(attacks),
            *heard.notes,
            *lacking,
            *missing,
        ),
    )


def _notes(
    attacks: Sequence[AttackFigures], statistics: str, system: str | None, trains: bool
) -> tuple[str, ...]:
    """What keeps a reader from thinking too well of a figure."""
    notes = []
    for attack in attacks:
        # The same attacker, or one that knows no more, without learnt weights.
        plain = min(
            (a for a in attacks if a.verifier == statistics and a.informed <= attack.informed),
            key=lambda a: a.eer.value,
            default=None,
        )
        if plain is None or attack.verifier == statistics or attack.holds_key:
            continue
        if attack.attacker.endswith(SUFFIX):  # said of the same one without
            continue
        if plain.eer.value < attack.eer.value:
            notes.append(
                f"{attack.verifier} as {attack.attacker} attacker is badly trained for this "
                f"system: pitch and formant statistics alone do better ({plain.eer.value:.1f} % "
                f"against {attack.eer.value:.1f} %)"
            )
    if system is None:
        notes.append(
            "only files are known, not the system: attackers who run it themselves (lazy-informed, "
            "key search, semi-informed) were not tried, and figures are upper bounds"
        )
    elif not trains:
        notes.append(
            "no speech of other people was given to train on (--pool): the semi-informed attacker "
            "was not tried, and figures are upper bounds"
        )
    return tuple(notes)


def _untrained(attacks: Sequence[AttackFigures]) -> tuple[str, ...]:
    """Whether the strongest kind of attacker was tried, and had learnt what it could."""
    taught = [attack for attack in attacks if attack.learning]
    if not taught:
        return (
            "no neural verifier was trained on anonymized speech (--attacker-budget); an attacker "
            "who does may do better than any here",
        )
    best = [min(lesson.eer for lesson in attack.learning) for attack in taught]
    earlier = [
        min(
            (x.eer for x in attack.learning if x.seconds <= 0.75 * attack.learning[-1].seconds),
            default=float("inf"),
        )
        for attack in taught
    ]
    if all(then <= STILL_LEARNING * now for then, now in zip(earlier, best, strict=True)):
        return ()
    return (
        "the verifier that was trained on anonymized speech was still learning when its time was "
        "up: give it more (--attacker-budget); figures are upper bounds",
    )


def _thresholds(bare: Sequence[protection.Attacked]) -> dict[str, dict[str, float]]:
    """Of equal errors on original speech, by verifier and attacker."""
    found: dict[str, dict[str, float]] = {}
    for a in bare:
        found.setdefault(a.figures.verifier, {})[a.figures.attacker] = a.threshold
    return found


def _keep(evidence: Evidence, name: str, found: Sequence[protection.Attacked]) -> None:
    evidence.scores[name] = {f"{a.figures.attacker}, {a.figures.verifier}": a.scores for a in found}


def _sample(plan: Plan) -> list[Recording]:
    """Recordings for utility: those with text if there are any, spread over speakers.

    Of a benchmark with parts, as many of each as can be.
    """
    trials = plan.trials
    spoken = [recording for recording in trials.recordings if recording.text] or trials.recordings
    if not trials.parts:
        return spread(spoken, plan.sample)
    chosen: dict[str, Recording] = {}
    for part in trials.parts:
        tried = {trials.recordings[i].name for i in np.flatnonzero(part.tested.any(0))}
        mine = [recording for recording in spoken if recording.name in tried]
        chosen.update((r.name, r) for r in spread(mine, max(1, plan.sample // len(trials.parts))))
    return list(chosen.values())
