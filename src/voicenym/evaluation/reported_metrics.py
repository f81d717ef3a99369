"""The metrics that an evaluation measures and reports, in the order of its tables.

A metric is one object beside its maths (:class:`voicenym.metrics.metric.Metric`) and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from voicenym.ending_signals import raised_by_handler
from voicenym.errors import DependencyError, VoicenymError, quoted
from voicenym.metrics.metric import Measured, Metric
from voicenym.registry import Registry

Data = TypeVar("Data")
RETRAINED = "retrained"
"""Suffix of error rates of a recogniser that was trained on the system's output."""
WEIGHTED = "weighted"
"""Prefix of a mean over the parts of a benchmark."""
PLACES = {
    "EER": "voicenym.metrics.verification.eer:EQUAL_ERROR_RATE",
    "ROCCH-EER": "voicenym.metrics.verification.eer:HULL_EQUAL_ERROR_RATE",
    "C_llr": "voicenym.metrics.verification.cllr:COST",
    "min C_llr": "voicenym.metrics.verification.cllr:MIN_COST",
    "D_ECE": "voicenym.metrics.verification.zebra:EXPECTED_DISCLOSURE",
    "worst case": "voicenym.metrics.verification.zebra:WORST_CASE",
    "D_sys": "voicenym.metrics.verification.linkability:GLOBAL_LINKABILITY",
    "TMR at FMR 1 %": "voicenym.metrics.verification.low_false_matches:TRUE_MATCHES_AT_1",
    "TMR at FMR 0.1 %": "voicenym.metrics.verification.low_false_matches:TRUE_MATCHES_AT_01",
    "rank-1": "voicenym.metrics.identification:RANK_ONE",
    "first of 1,000": "voicenym.metrics.crowd:FIRST_AMONG",
    "worst speaker": "voicenym.metrics.identification:WORST_SPEAKER",
    "found for sure": "voicenym.metrics.identification:FOUND_FOR_SURE",
    "MMR": "voicenym.metrics.verification.rates:MISS_MATCH_RATE",
    "WMR": "voicenym.metrics.verification.rates:WRONG_MATCH_RATE",
    "WER": "voicenym.metrics.words.word_error_rate:WORDS",
    "WER substitutions": "voicenym.metrics.words.word_error_rate:SUBSTITUTED_WORDS",
    "WER deletions": "voicenym.metrics.words.word_error_rate:DELETED_WORDS",
    "WER insertions": "voicenym.metrics.words.word_error_rate:INSERTED_WORDS",
    "CER": "voicenym.metrics.words.word_error_rate:CHARACTERS",
    "CER substitutions": "voicenym.metrics.words.word_error_rate:SUBSTITUTED_CHARACTERS",
    "CER deletions": "voicenym.metrics.words.word_error_rate:DELETED_CHARACTERS",
    "CER insertions": "voicenym.metrics.words.word_error_rate:INSERTED_CHARACTERS",
    "proper nouns": "voicenym.metrics.words.marked_words:PROPER_NOUNS",
    "numbers": "voicenym.metrics.words.marked_words:NUMBERS",
    "PER": "voicenym.metrics.words.phone_error_rate:PHONES",
    "PER substitutions": "voicenym.metrics.words.phone_error_rate:SUBSTITUTED_PHONES",
    "PER deletions": "voicenym.metrics.words.phone_error_rate:DELETED_PHONES",
    "PER insertions": "voicenym.metrics.words.phone_error_rate:INSERTED_PHONES",
    "DNSMOS": "voicenym.metrics.utility.opinion:PREDICTED_OPINION",
    "rho_F0": "voicenym.metrics.utility.intonation:INTONATION",
    "rho_F0 by chance": "voicenym.metrics.utility.intonation:INTONATION_BY_CHANCE",
    "emotion UAR": "voicenym.metrics.utility.unweighted_recall:EMOTION",
    "accent UAR": "voicenym.metrics.utility.unweighted_recall:ACCENT",
    "G_VD": "voicenym.metrics.voices.voice_distinctiveness:GAIN",
    "DeID": "voicenym.metrics.voices.voice_distinctiveness:DEIDENTIFICATION",
    "M_oo own": "voicenym.metrics.voices.voice_distinctiveness:OO_OWN",
    "M_oo others": "voicenym.metrics.voices.voice_distinctiveness:OO_OTHERS",
    "M_oa own": "voicenym.metrics.voices.voice_distinctiveness:OA_OWN",
    "M_oa others": "voicenym.metrics.voices.voice_distinctiveness:OA_OTHERS",
    "M_aa own": "voicenym.metrics.voices.voice_distinctiveness:AA_OWN",
    "M_aa others": "voicenym.metrics.voices.voice_distinctiveness:AA_OTHERS",
    "cluster ARI": "voicenym.metrics.voices.clustering:CLUSTERS",
    "D_KS": "voicenym.metrics.voices.voice_diversity:DISTANCE",
    "entropy": "voicenym.evaluation.measurements.diversity:ENTROPY",
    "entropy, lower bound": "voicenym.evaluation.measurements.diversity:LOWER_BOUND",
    "entropy, upper bound": "voicenym.evaluation.measurements.diversity:UPPER_BOUND",
    "effective voices": "voicenym.evaluation.measurements.diversity:EFFECTIVE_VOICES",
    "SNR": "voicenym.metrics.utility.signal_measures:NOISE",
    "RTF": "voicenym.metrics.utility.signal_measures:REAL_TIME_FACTOR",
}
"""``module:object`` by name, in the order of the reports' tables."""
METRICS: Registry[Measured | None] = Registry("metric", PLACES, group="voicenym.metrics")
"""The metrics, and those that other packages declare, which follow in alphabetical order."""


@cache
def metrics() -> tuple[Metric[Any], ...]:
    """All metrics, in their order.

    Raises:
        VoicenymError: another package declares an object that is not a metric.
    """
    found: list[Metric[Any]] = []
    for name in (*PLACES, *(name for name in METRICS.names() if name not in PLACES)):
        metric = METRICS.get(name)
        if not isinstance(metric, Metric) or metric.name != name:
            raise VoicenymError(
                f"metric {name!r} of {METRICS.package(name)} is no voicenym.metrics.metric.Metric "
                "of this name; uninstall or update the package"
            )
        found.append(metric)
    return tuple(found)


def of(data: type[Data]) -> list[Metric[Data]]:
    """Metrics that are computed from a type of data."""
    return [metric for metric in metrics() if metric.data is data]


def named(figure: str) -> Metric[Any] | None:
    """The metric of a figure's key, such as ``WER``, ``weighted WER`` or ``EER f``.

    Args:
        figure: key in ``results.json``.

    Returns:
        None if the key is of no metric in the list, as in reports of other releases.
    """
    base = figure.removeprefix(f"{WEIGHTED} ")
    by_name = {metric.name: metric for metric in metrics()}
    fits = [name for name in by_name if base == name or base.startswith(f"{name} ")]
    return by_name[max(fits, key=len)] if fits else None


def headline() -> Metric[Any]:
    """First metric of the list, which ranks attackers: the equal error rate."""
    return metrics()[0]


def measure(
    data: Data,
    *,
    originals: bool = False,
    only: Callable[[Metric[Data]], bool] = lambda metric: True,
    notes: list[str] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Measured]:
    """Figures of all metrics of some data, by name, without metrics that the data do not allow.

    Args:
        data: one of :mod:`voicenym.metrics.metric_inputs`.
        originals: whether the data are of original speech, without a comparison.
        only: metrics to measure.
        notes: receives the reason why a metric could not be measured, and the sentences of metrics
            on recordings that they leave out or count as lost; None raises the error.
        say: receives the subject of each metric before it is measured.

    Raises:
        VoicenymError: without ``notes``, the error of a metric; a metric of another package that
            is defective.
    """
    found: dict[str, Measured] = {}
    subject = ""
    for metric in of(type(data)):
        if (originals and not metric.originals) or not only(metric):
            continue
        if metric.display.subject != subject:
            subject = metric.display.subject
            say(subject)
        try:
            measured = _measured(metric, data)
        except (DependencyError, ValueError) as error:
            if notes is None:
                raise
            note = f"{subject} was not measured: {error}"
            if note not in notes:
                notes.append(note)
            continue
        if measured is not None:
            found[metric.name] = measured
            if notes is not None and metric.note is not None and (note := metric.note(data)):
                notes.append(f"original speech: {note}" if originals else note)
    return found


def _measured(metric: Metric[Data], data: Data) -> Measured | None:
    """A metric's figure; a defect of another package's metric is an error that names both."""
    if metric.name in METRICS.own:
        return metric(data)
    try:
        return metric(data)
    except (VoicenymError, ValueError):  # of the data
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, SystemExit) and raised_by_handler(error):
            raise
        why = f"{type(error).__name__}: {quoted(str(error))}"
        raise METRICS.broken(metric.name, why) from error


def of_condition(data: Data, condition: str, **options: Any) -> dict[str, Measured]:
    """Figures of metrics of one condition, with its name as a suffix, such as ``EER f``.

    Args:
        data: one of :mod:`voicenym.metrics.metric_inputs`.
        condition: its name.
        options: of :func:`measure`.
    """
    found = measure(data, only=lambda metric: metric.subgroups, **options)
    return {f"{name} {condition}": figure for name, figure in found.items()}
