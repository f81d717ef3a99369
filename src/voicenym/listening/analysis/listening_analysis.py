"""Analysis of a study: quality of listeners, and figures of each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from voicenym.listening.analysis import ear_verification, mean_opinions, rater_agreement
from voicenym.listening.analysis.ear_verification import EarVerification
from voicenym.listening.analysis.mean_opinions import BOOTSTRAP, SystemMean
from voicenym.listening.analysis.objective_agreement import Correlation, Measures, correlations
from voicenym.listening.analysis.quality_control import Criteria, ListenerQuality, qualities
from voicenym.listening.analysis.rater_agreement import Agreement
from voicenym.listening.analysis.system_comparisons import Comparison, comparisons
from voicenym.listening.ratings import RIGHT, VERIFICATION, WORDS, CheckResult, Rating, scale_of


@dataclass(frozen=True)
class QuestionFigures:
    """Figures of one question; pairs of same and of different speakers are apart.

    Args:
        question, kind: names; the kind is ``same``, ``different`` or empty.
        means: of each system.
        comparisons: of all pairs of systems.
        agreement: of listeners; None where it cannot be computed.
    """

    question: str
    kind: str
    means: tuple[SystemMean, ...]
    comparisons: tuple[Comparison, ...]
    agreement: Agreement | None

    @property
    def title(self) -> str:
        """For readers."""
        pairs = {"same": ", pairs of one speaker", "different": ", pairs of two speakers"}
        return self.question + pairs.get(self.kind, "")

    @property
    def unit(self) -> str:
        """Of the means: the scale, or percent."""
        if self.question in RIGHT or self.question == WORDS:
            return "%"
        limits = scale_of(self.question)
        return "" if limits is None else f"of {limits[1]:g}"

    @property
    def factor(self) -> float:
        """By which means are multiplied to be shown: shares are shown in percent."""
        return 100.0 if self.question in RIGHT else 1.0


@dataclass(frozen=True)
class ListeningResults:
    """Results of a study.

    Args:
        ratings: of the listeners that are kept.
        listeners: quality of all.
        questions: figures.
        verification: by listeners, of each system.
        correlations: with objective measures.
        objective: measures, for the table beside people's.
        notes: sentences on what is missing or to be kept in mind.
    """

    ratings: tuple[Rating, ...]
    listeners: tuple[ListenerQuality, ...]
    questions: tuple[QuestionFigures, ...]
    verification: tuple[EarVerification, ...]
    correlations: tuple[Correlation, ...] = ()
    objective: Measures = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def analyse(
    ratings: Sequence[Rating],
    checks: Sequence[CheckResult] = (),
    *,
    criteria: Criteria | None = None,
    intervals: str = BOOTSTRAP,
    by_item: bool = False,
    objective: Measures | None = None,
    seed: int = 0,
) -> ListeningResults:
    """Analyses ratings.

    Args:
        ratings: of all listeners.
        checks: results of gold and trapping items and of checks.
        criteria: that listeners must meet.
        intervals: of means, :data:`.BOOTSTRAP` or :data:`.MIXED`.
        by_item: whether ranks are normalised by utterance after listeners.
        objective: measures to correlate.
        seed: of bootstraps.

    Raises:
        VoicenymError: too few listeners for the intervals asked for.
    """
    listeners = qualities(ratings, checks, criteria)
    kept_names = {one.listener for one in listeners if one.kept}
    kept = tuple(one for one in ratings if one.listener in kept_names)
    figures: list[QuestionFigures] = []
    for question, kind in dict.fromkeys((one.question, one.kind) for one in kept):
        apart = kind if question in VERIFICATION else ""
        if any((f.question, f.kind) == (question, apart) for f in figures):
            continue
        own = [r for r in kept if r.question == question and apart in ("", r.kind)]
        figures.append(
            QuestionFigures(
                question, apart,
                tuple(mean_opinions.means(own, intervals, seed=seed)),
                tuple(comparisons(own, items=by_item)),
                rater_agreement.agreement(own, nominal=question in RIGHT, seed=seed),
            )
        )  # fmt: skip
    return ListeningResults(
        kept,
        tuple(listeners),
        tuple(figures),
        tuple(ear_verification.verifications(kept, seed=seed)),
        tuple(correlations(kept, objective or {})),
        objective or {},
        _notes(listeners, kept, figures),
    )


def _notes(
    listeners: Sequence[ListenerQuality], kept: Sequence[Rating], figures: Sequence[QuestionFigures]
) -> tuple[str, ...]:
    """What a reader must know."""
    notes = []
    count = sum(one.kept for one in listeners)
    if not kept:
        return ("No listener is left after quality control, so that there are no figures.",)
    if count == 1:
        notes.append(
            "One listener answered: intervals are over speakers alone, and say nothing of other "
            "listeners."
        )
    elif count < 10:
        notes.append(f"{count} listeners are few: intervals over so few are too narrow.")
    if any(f.agreement is None for f in figures):
        notes.append(
            "Agreement is not measured where no recording of a system was rated by two listeners."
        )
    notes.append(
        "Mann-Whitney tests take ratings as independent, as the VoicePrivacy Challenge does; "
        "ratings of one listener are not, so that small p-values are too small. The intervals of "
        "the means account for listeners and speakers."
    )
    return tuple(notes)
