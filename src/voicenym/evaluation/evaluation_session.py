"""What the attacks and measurements of one evaluation share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voicenym.attack.attackers import Attacker
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Transform
from voicenym.evaluation.evaluation_plan import Evidence, Plan, key
from voicenym.evaluation.measurements import protection, utility
from voicenym.evaluation.measurements.finished_parts import FinishedParts
from voicenym.evaluation.measurements.protection import Attacked
from voicenym.evaluation.measurements.utility import Utility
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.conditions import measurable
from voicenym.verification.verifier import Verifier
from voicenym.verification.voice_statistics import VoiceStatistics


@dataclass
class Session:
    """Plan, tools and kept results of an evaluation.

    Args:
        plan: with the recordings that can be read.
        voices: the verifiers of the attackers.
        statistics: the verifier by statistics of voices.
        embedder: computes vectors.
        parts: finished parts of an interrupted run.
        say: receives a line of progress.
    """

    plan: Plan
    voices: Sequence[Verifier]
    statistics: VoiceStatistics
    embedder: Embedder
    parts: FinishedParts
    say: Callable[[str], None]
    evidence: Evidence = field(init=False)
    sample: Sequence[Recording] = field(init=False)
    thresholds: Mapping[str, Mapping[str, float]] = field(init=False, default_factory=dict)
    """Thresholds of equal errors on original speech, by verifier and attacker."""
    originals: Mapping[tuple[str, str], Measured] = field(init=False, default_factory=dict)
    """Equal error rates on original speech, by attacker and verifier."""

    def __post_init__(self) -> None:
        self.evidence = Evidence(self.plan.trials)
        self.sample = self.plan.sampled()

    @property
    def options(self) -> dict[str, Any]:
        """Options of all figures with intervals."""
        return {"replicates": self.plan.replicates}

    def scenario(self, protected: Protection, pool: tuple[Recording, ...]) -> Scenario:
        """What an attacker on protected speech has."""
        trials = self.plan.trials
        return Scenario(
            trials.models,
            trials.recordings,
            protected,
            key(self.plan.seed, "attacker"),
            pool,
            self.plan.pool_is_original,
        )

    def attacked(
        self, name: str, depends: Any, attacker: Attacker, scenario: Scenario, voice: Verifier
    ) -> list[Attacked]:
        """Attack of one attacker with one verifier, or that of an interrupted run.

        Args:
            name: of the system.
            depends: further values on which the scores depend.
            attacker: who attacks.
            scenario: what the attacker has.
            voice: the verifier.
        """
        known = protection.NO_THRESHOLDS
        if not attacker.trains_verifier:
            known = self.thresholds.get(voice.name, known)
        on = (name, depends, attacker, attacker.settings(), voice, known.get(attacker.reference))
        return self.parts.attacks(
            f"{name}: {attacker.name}, {attacker.verifier_name(voice)}",
            on,
            lambda: protection.attack(
                [attacker], scenario, self.plan.trials, voice, self.embedder,
                **self.options, thresholds=known, say=self.say,
            ),
        )  # fmt: skip

    def by_statistics(self, name: str, depends: Any, scenario: Scenario) -> list[Attacked]:
        """Attack by statistics of voices, without a network; arguments as of :meth:`attacked`."""
        known = self.thresholds.get(self.statistics.name, protection.NO_THRESHOLDS)
        on = (depends, self.statistics, known)
        return self.parts.attacks(
            f"{name}: voice statistics",
            on,
            lambda: protection.trivial(
                scenario, self.plan.trials, self.statistics, self.embedder,
                **self.options, thresholds=known,
            ),
        )  # fmt: skip

    def utility(self, name: str, depends: Any, transform: Transform, **more: Any) -> Utility:
        """Words, sound and speed of a sample, or those of an interrupted run.

        Args:
            name: of the system, ``original`` for none.
            depends: further values on which the figures depend.
            transform: of original speech to that which is measured.
            more: arguments of :func:`voicenym.evaluation.measurements.utility.measure`.
        """
        plan = self.plan
        return self.parts.utility(
            f"{name}: utility",
            depends,
            lambda: utility.measure(
                self.sample, transform, plan.recogniser, line=plan.line,
                transcripts=plan.transcripts.get(name), phones=plan.phones, only=plan.sound,
                conditions=measurable(plan.trials), say=self.say, **self.options, **more,
            ),
        )  # fmt: skip

    def keep_originals(self, bare: Sequence[Attacked]) -> None:
        """Keeps the rates and the thresholds of attacks on original speech."""
        self.originals = {(a.figures.attacker, a.figures.verifier): a.figures.eer for a in bare}
        found: dict[str, dict[str, float]] = {}
        for a in bare:
            found.setdefault(a.figures.verifier, {})[a.figures.attacker] = a.threshold
        self.thresholds = found


def keep_scores(evidence: Evidence, name: str, found: Sequence[Attacked]) -> None:
    """Keeps scores for figures: as they are of the strongest attacker, which comparisons need too,
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
