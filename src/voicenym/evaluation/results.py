"""Results of an evaluation: figures of attackers, of systems, and of all together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from voicenym.evaluation.trial_plans.conditions import ConditionSize
from voicenym.metrics.metric import Measured as Measured

FORMAT = 1
"""Version of the file format; it changes when older readers would misread a file."""


def cell(measured: Measured | None, digits: int = 1, otherwise: str = "–") -> str:
    """Text of a figure and its interval in a Markdown table.

    Args:
        measured: the figure.
        digits: after the point.
        otherwise: text in place of a missing figure.
    """
    if measured is None:
        return otherwise
    text = f"{measured.value:.{digits}f}"
    low, high = measured.low, measured.high
    if low is not None and high is not None and not math.isnan(low):
        text += f" ({low:.{digits}f} to {high:.{digits}f})"
    return text.replace("-", "−")


@dataclass(frozen=True)
class Lesson:
    """EER of an attacker at one point of its training.

    Args:
        step: of the optimizer.
        seconds: spent training.
        eer: on protected speech of speakers outside the training set, in percent.
    """

    step: int
    seconds: float
    eer: float


@dataclass(frozen=True)
class Control:
    """EER of an attacker on a control (:mod:`voicenym.attack.controls`).

    Args:
        name: of the control.
        eer: with its interval.
        conclusive: whether a failure shows that the attacker is broken; at half strength it does
            only where somebody who knows no more finds people.
    """

    name: str
    eer: Measured
    conclusive: bool = True

    @property
    def passed(self) -> bool:
        """Whether the attacker finds speakers on it: the whole interval lies below chance."""
        return below_chance(self.eer)


def below_chance(eer: Measured) -> bool:
    """Whether an equal error rate in %, with its interval, lies below 50.

    A rate of 0 does, though its interval reaches beyond 50 with three speakers or fewer: an
    attacker without an error is not called broken.
    """
    return eer.value == 0.0 or (eer.value if eer.high is None else eer.high) < 50.0


@dataclass(frozen=True)
class AttackFigures:
    """Figures of one attacker with one verifier.

    Args:
        attacker: its name.
        knows: its knowledge and method.
        verifier: that computed the vectors.
        figures: by name: metrics of trial scores (:mod:`voicenym.evaluation.reported_metrics`),
            those of subgroups such as ``EER f`` and ``EER PART``, and weighted means.
        tag: ZEBRA's category of the worst case.
        targets, nontargets: numbers of trials.
        holds_key: whether it has the user's key; its figure then does not measure protection.
        informed: whether it knows the system.
        learning: its learning curve, if it trains.
        limits: sentences on figures that the numbers of trials limit.
        controls: the same attacker on controls; empty if they did not run.
        unchecked: reasons, by the controls on which it could not be run.
        learned_from: recordings of other people that it learned from; 0 if it learns from none, or
            in reports of earlier releases.
        chances: by metric, what guessing reaches on average on these trials; empty in reports of
            earlier releases, as is the next.
        by_luck: by metric, what 95 of 100 attackers at most reach whose scores tell nothing of the
            speakers (:mod:`voicenym.evaluation.measurements.chance_levels`).
    """

    attacker: str
    knows: str
    verifier: str
    figures: dict[str, Measured]
    tag: str
    targets: int
    nontargets: int
    holds_key: bool = False
    informed: bool = True
    learning: tuple[Lesson, ...] = ()
    limits: tuple[str, ...] = ()
    controls: tuple[Control, ...] = ()
    unchecked: dict[str, str] = field(default_factory=dict)
    learned_from: int = 0
    chances: dict[str, float] = field(default_factory=dict)
    by_luck: dict[str, float] = field(default_factory=dict)

    @property
    def failed(self) -> tuple[Control, ...]:
        """Conclusive controls on which it finds nobody."""
        return tuple(one for one in self.controls if one.conclusive and not one.passed)

    @property
    def broken(self) -> bool:
        """Whether it also finds nobody on a control, so that its figure is no evidence."""
        return not below_chance(self.eer) and bool(self.failed)

    @property
    def evident(self) -> bool:
        """Whether its figure is evidence: it finds speakers on the system, or it finds them on
        controls, so that the system is what stops it.
        """
        works = any(one.passed for one in self.controls) and not self.failed
        return below_chance(self.eer) or works

    @property
    def eer(self) -> Measured:
        return self.figures["EER"]


def by_strength(attacks: Iterable[AttackFigures]) -> list[AttackFigures]:
    """Attacks without the key, then those with it; of each the sound ones by their EER, the lowest
    first, then the broken ones.
    """
    return sorted(attacks, key=lambda a: (a.holds_key, a.broken, a.eer.value))


@dataclass(frozen=True)
class Exposed:
    """Protection of one speaker against the strongest attacker.

    Args:
        speaker: name.
        found: share of the speaker's trials whose best-scoring model is the speaker's.
        rank: mean share of other models that score at least as high: 0 is identified, 0.5 is
            chance.
    """

    speaker: str
    found: float
    rank: float


@dataclass(frozen=True)
class Amount:
    """Figures of an attacker with a given number of recordings.

    Args:
        attacker, verifier: their names.
        recordings: test recordings of each speaker; also enrolled ones, unless ``average`` states
            that all are enrolled.
        average: combination of the recordings.
        speakers: number of speakers with so many recordings.
        figures: of :data:`voicenym.evaluation.measurements.speech_amount.REPORTED`.
    """

    attacker: str
    verifier: str
    recordings: int
    average: str
    speakers: int
    figures: dict[str, Measured] = field(default_factory=dict)


@dataclass(frozen=True)
class SystemResults:
    """One system, or one set of files that were anonymized by an external system.

    Args:
        name: of the system, with its settings that differ from the defaults: ``mcadams:low=0.8``;
            unique in the report.
        title: one line.
        parameters: that differ from the system's defaults.
        per: whether voices are drawn per speaker or per utterance.
        attacks: without those on unprotected speech.
        utility: figures by metric: words, naturalness, pitch, distinctiveness, speed.
        exposed: speakers by their protection against the strongest attacker, the least protected
            first.
        notes: limits of the figures: attacks not run, weak verifiers.
        left_out: number of trials on which the system failed, which no figure counts.
        weights: version of its weights: the first 16 digits of their SHA-256, or of the digests of
            several; empty without weights, and in reports of earlier releases.
        amounts: rates by the number of an attacker's recordings.
        targets: target voices, ``random``, ``same-sex``, ``opposite-sex`` or ``one-for-all``; empty
            for files, and in reports of earlier releases.
        files: SHA-256 of the evaluated trials' files, sorted, where files were evaluated; empty for
            systems, and in reports of earlier releases.
        upper_bound: whether attackers without the key did not run that might find more, so that
            figures are upper bounds of protection; None in reports of earlier releases, whose notes
            tell.
        own_weights: whether the weights are the user's, which the system finds in place of the
            bundled ones; None in reports of earlier releases, and for files.
    """

    name: str
    title: str
    parameters: dict[str, Any]
    per: str
    attacks: tuple[AttackFigures, ...]
    utility: dict[str, Measured] = field(default_factory=dict)
    exposed: tuple[Exposed, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: int = 0
    weights: str = ""
    amounts: tuple[Amount, ...] = ()
    targets: str = ""
    files: tuple[str, ...] = ()
    upper_bound: bool | None = None
    own_weights: bool | None = None

    @property
    def system(self) -> str:
        """Name of the system without its settings."""
        return self.name.partition(":")[0]

    @property
    def attacked(self) -> bool:
        """Whether an attacker without the key ran."""
        return any(not attack.holds_key for attack in self.attacks)

    @property
    def strongest(self) -> AttackFigures:
        """Attack with the lowest EER among those without the key: the headline.

        Broken attacks come last. There is one if the system was :attr:`attacked`.
        """
        return by_strength(a for a in self.attacks if not a.holds_key)[0]


@dataclass(frozen=True)
class Missed:
    """A recording that was left out.

    Args:
        name: of the recording.
        reason: in a sentence.
        step: that failed on it, such as a system; empty if it could not be read.
    """

    name: str
    reason: str
    step: str = ""


@dataclass(frozen=True)
class Evaluation:
    """All results of an evaluation.

    Args:
        version: of voicenym.
        date: ISO 8601.
        data: of the evaluation, in a line.
        speakers, recordings: numbers of test speakers and recordings.
        unprotected: figures of the verifiers on original speech.
        systems: evaluated.
        utility: of the originals.
        warnings: about the trials.
        settings: of the evaluation, in a line.
        left_out: recordings that no figure counts.
        conditions: with figures of their own, or too small for figures.
        recognisers: names of those of ``words`` and ``phones``, if any.
    """

    version: str
    date: str
    data: str
    speakers: int
    recordings: int
    unprotected: tuple[AttackFigures, ...]
    systems: tuple[SystemResults, ...]
    utility: dict[str, Measured] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    settings: str = ""
    left_out: tuple[Missed, ...] = ()
    conditions: tuple[ConditionSize, ...] = ()
    recognisers: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT
