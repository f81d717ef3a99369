"""Bench: runs the measurements that tables are made of, and keeps what is measured.

A measurement is an evaluation of one system by fixed attackers on fixed trials. Vectors,
transcripts and finished parts lie in the cache folder, so that tables share them and an
interrupted run resumes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from voicenym.anonymizer.system_settings import labelled, parsed
from voicenym.attack.attacker_resources import AttackerTraining
from voicenym.corpus.readers.recording_subsets import halved, spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.skipped import LeftOut
from voicenym.errors import CorpusError, VoicenymError
from voicenym.evaluation.evaluation_plan import Evidence, Plan
from voicenym.evaluation.protocol import evaluate
from voicenym.evaluation.results import AttackFigures, Evaluation, Measured, SystemResults
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.recognition import Recogniser
from voicenym.reproduction.budgets import Budget
from voicenym.reproduction.outcome import Figure, absent

VECTORS = "vectors.sqlite"
IGNORANT, LAZY = "ignorant", "lazy-informed"
SEMI = "semi-informed (back end)"
RETRAINED = "asv-eval-2022"
ATTACKERS = (IGNORANT, LAZY, SEMI)
"""Attackers of every measurement; the papers' ignorant (O-A) and lazy-informed (A-A) ones, and one
that fits a PLDA to anonymized speech."""
BACK_END = (
    "the semi-informed attacker fits a back end (PLDA) to anonymized speech; the papers' trains "
    "x-vectors on it, which --budget full does (asv-eval-2022)"
)
"""What differs in the semi-informed attacker."""
NO_WORDS = {
    "WER": "no recogniser: give --recogniser-weights, or voicenym models pull whisper-tiny.en",
    "WER retrained": (
        "needs a recogniser that was trained on the system's output: voicenym train whisper "
        "--system, then --recogniser-anonymized SYSTEM=FOLDER"
    ),
}
"""Reasons of missing word error rates."""


@dataclass(frozen=True)
class Speech:
    """Speech of a reproduction, as options give it.

    Args:
        source: folder, Kaldi data folder or manifest.
        split, part, half: of it, as in ``voicenym evaluate``.
        pool: source of other people's speech.
        pool_split, pool_part: of that.
    """

    source: Path
    split: str | None = None
    part: str | None = None
    half: str | None = None
    pool: Path | None = None
    pool_split: str | None = None
    pool_part: str | None = None

    @property
    def described(self) -> str:
        """Description in a line, without a path of the machine."""
        half = self.half and f"{self.half} half"
        return ", ".join(p for p in (self.source.stem, self.part, self.split, half) if p)


@dataclass(frozen=True)
class Measurement:
    """A system's results, those on original speech beside them, and the evidence for drawings."""

    evaluation: Evaluation
    evidence: Evidence

    @property
    def results(self) -> SystemResults:
        """Of the system."""
        return self.evaluation.systems[0]

    @property
    def name(self) -> str:
        """Name of the system in the evidence."""
        return self.results.name

    def attack(self, attacker: str, verifier: str = "") -> AttackFigures | None:
        """Figures of an attacker with a verifier, by default the first one."""
        for found in self.results.attacks:
            if found.attacker == attacker and verifier in ("", found.verifier):
                return found
        return None

    def figure(self, attacker: str, metric: str, sex: str = "", verifier: str = "") -> Figure:
        """A metric of an attacker's scores, of all or of one sex."""
        found = self.attack(attacker, verifier)
        if found is None:
            return absent(f"{attacker}: did not run")
        return _named(found.figures, metric, sex)

    def utility(self, metric: str, sex: str = "") -> Figure:
        """A metric of the anonymized speech."""
        return _named(self.results.utility, metric, sex)


def _named(figures: dict[str, Measured], metric: str, sex: str) -> Figure:
    key = f"{metric} {sex}".strip()
    if key not in figures and metric in NO_WORDS:
        return absent(NO_WORDS[metric])
    return Figure.of(figures.get(key), f"{key}: not measured on so few trials")


@dataclass
class Bench:
    """Speech, budget and cache of a reproduction, and its measurements.

    Args:
        budget: sizes.
        cache: folder; None measures without one.
        speech: None where the user gave none.
        recogniser: of words; None leaves word errors out.
        retrained: recognisers that were trained on the output of systems, by the system's name
            and settings, as reports print them.
        verifiers: names; the first one's figures are those of tables with one verifier.
        cloaks, codecs: folders of cloaks and codecs trained for an ablation, by name.
        pipelines: folders of pipelines of one's own, by the name of a paper's system.
        answers: file of listeners' answers; None where the user gave none.
        workers: processes.
        say: receives lines of progress.
        left_out: collects recordings that cannot be used.
    """

    budget: Budget
    cache: Path | None = None
    speech: Speech | None = None
    recogniser: Recogniser | None = None
    retrained: Mapping[str, Recogniser] = field(default_factory=dict)
    verifiers: tuple[str, ...] = ("ecapa-small",)
    cloaks: Mapping[str, Path] = field(default_factory=dict)
    codecs: Mapping[str, Path] = field(default_factory=dict)
    pipelines: Mapping[str, Path] = field(default_factory=dict)
    answers: Path | None = None
    workers: int = 1
    say: Callable[[str], None] = lambda text: None
    left_out: LeftOut = field(default_factory=lambda: LeftOut(fail_fast=False))
    _kept: dict[Any, Measurement | str] = field(default_factory=dict)

    @cached_property
    def recordings(self) -> list[Recording]:
        """Speech of the evaluated speakers: as many as the budget says, half of them women.

        Raises:
            CorpusError: no speech, or too few speakers.
        """
        if self.speech is None:
            raise CorpusError("this table is measured on speech: give some with --speech")
        given = self.speech
        found = recordings(given.source, given.split, given.part, self.left_out)
        if given.half:
            found = halved(found, given.half)
        people = _chosen(found, self.budget)
        return [recording for recording in found if recording.speaker in people]

    @cached_property
    def trials(self) -> Trials:
        """Trials within each sex."""
        size = self.budget
        return build(self.recordings, enrolment=size.enrolment, trials=size.trials)

    @cached_property
    def pool(self) -> tuple[Recording, ...]:
        """Speech of other people; empty without ``--pool``."""
        given = self.speech
        if given is None or given.pool is None:
            return ()
        found = recordings(given.pool, given.pool_split, given.pool_part, self.left_out)
        tested = {recording.speaker for recording in self.recordings}
        others = [recording for recording in found if recording.speaker not in tested]
        return tuple(spread(others, self.budget.pool))

    @cached_property
    def data(self) -> str:
        """Description of speech and size in a line."""
        if self.speech is None:
            return ""
        test = self.trials
        people = len({model.speaker for model in test.models})
        return (
            f"{self.speech.described}: {people} speakers, {len(test.recordings)} trials of "
            f"{self.budget.enrolment} enrolled recordings each, {len(self.pool)} recordings of "
            "others"
        )

    @property
    def informed(self) -> str:
        """Name of the semi-informed attacker of this budget."""
        return RETRAINED if self.budget.attacker_seconds else SEMI

    def measured(
        self, system: str, attackers: Sequence[str] = (), **options: Any
    ) -> Measurement | str:
        """The measurement of a system, or the reason why there is none.

        Args:
            system: as of ``--system``.
            attackers: parts of names; by default :data:`ATTACKERS` as far as they can run.
            options: further fields of the plan, such as ``denoisers``.
        """
        key = (system, tuple(attackers), repr(sorted(options.items())))
        if key not in self._kept:
            try:
                self._kept[key] = self._measure(system, tuple(attackers), options)
            except CorpusError:
                raise
            except VoicenymError as error:
                self._kept[key] = _reason(error)
        return self._kept[key]

    def _measure(
        self, system: str, attackers: tuple[str, ...], options: dict[str, Any]
    ) -> Measurement:
        from voicenym.anonymizer import load

        name, settings = parsed(system)
        load(name, **settings).check()
        plan = replace(self.plan(), systems=((name, settings),), only=attackers or self.only)
        if attackers:  # a comparison of attackers needs no words
            plan = replace(plan, recogniser=None, sample=min(plan.sample, 8))
        elif (called := labelled(system)) in self.retrained:
            plan = replace(plan, retrained={called: self.retrained[called]})
        plan = replace(plan, **options)
        vectors = None if self.cache is None else self.cache / VECTORS
        evaluation, evidence = evaluate(
            plan, vectors, self.workers, self.say, left_out=self.left_out
        )
        if not evaluation.systems:
            raise VoicenymError(f"{system}: failed on every recording")
        return Measurement(evaluation, evidence)

    @property
    def only(self) -> tuple[str, ...]:
        """Attackers that can run with the speech at hand."""
        if not self.pool:
            return (IGNORANT, LAZY)
        return (IGNORANT, LAZY, self.informed)

    def plan(self) -> Plan:
        """Plan without a system."""
        seconds = self.budget.attacker_seconds
        training = None
        if seconds and self.cache is not None:
            training = AttackerTraining(self.cache / "attackers", seconds, workers=self.workers)
        return Plan(
            data=self.speech.described if self.speech else "",
            trials=self.trials,
            pool=self.pool,
            verifiers=self.verifiers,
            keys=0,
            attacker_training=training,
            recogniser=self.recogniser,
            sample=self.budget.sample,
            replicates=self.budget.replicates,
        )


def _reason(error: Exception) -> str:
    """A message in one line, without paths of the machine."""
    return re.sub(r"(?: in)? /\S*?(?=[;,:.]?(?:\s|$))", "", " ".join(str(error).split()))


def _chosen(found: Sequence[Recording], budget: Budget) -> set[str]:
    """Speakers by the budget, spread over the sorted names of each sex."""
    counts: dict[tuple[str, str], int] = {}
    for recording in found:
        key = (recording.sex, recording.speaker)
        counts[key] = counts.get(key, 0) + 1
    enough = sorted(key for key, count in counts.items() if count > budget.enrolment)
    if len(enough) < 2:
        raise CorpusError(
            f"the budget {budget.name} needs two speakers with more than {budget.enrolment} "
            "recordings: give more speech, or a smaller budget"
        )
    if not budget.speakers or len(enough) <= budget.speakers:
        return {speaker for _, speaker in enough}
    sexes = sorted({sex for sex, _ in enough})
    chosen: set[str] = set()
    for sex in sexes:
        own = [speaker for s, speaker in enough if s == sex]
        share = min(len(own), max(2, budget.speakers // len(sexes)))
        chosen |= {own[i * len(own) // share] for i in range(share)}
    return chosen
