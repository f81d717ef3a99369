"""Results of an evaluation, as JSON and as a CSV table."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicenym.attack.former_names import todays_name
from voicenym.errors import VoicenymError
from voicenym.evaluation.conditions import ConditionSize
from voicenym.metrics.metric import Measured as Measured
from voicenym.private import private_folder, write_private

FORMAT = 1
"""Changes when older readers would misread a file."""
RESULTS = "results.json"
TABLE = "results.csv"


def cell(measured: Measured | None, digits: int = 1, otherwise: str = "–") -> str:
    """A figure and its interval in a Markdown table.

    Args:
        measured: the figure.
        digits: after the point.
        otherwise: what stands where there is no figure.
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
    """

    name: str
    eer: Measured

    @property
    def passed(self) -> bool:
        """Whether the attacker finds people on it: the whole interval lies below chance."""
        return below_chance(self.eer)


def below_chance(eer: Measured) -> bool:
    """Whether an equal error rate in %, with its interval, lies below 50."""
    return (eer.value if eer.high is None else eer.high) < 50.0


@dataclass(frozen=True)
class AttackFigures:
    """Figures of one attacker with one verifier.

    Args:
        attacker: its name.
        knows: what it knows and does.
        verifier: that turned voices into vectors.
        figures: by name: metrics of trial scores (:mod:`voicenym.evaluation.reported_metrics`),
            those of subgroups such as ``EER f`` and ``EER PART``, and weighted means.
        tag: ZEBRA's category of the worst case.
        targets, nontargets: numbers of trials.
        holds_key: it has the user's key, so that its figure is no protection's.
        informed: it knows the system.
        learning: how its training went, if it trained.
        limits: sentences on figures that the numbers of trials limit.
        controls: the same attacker on controls; empty where they were not run.
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

    @property
    def broken(self) -> bool:
        """Whether it finds nobody, on a control either: its figure is no evidence."""
        return not below_chance(self.eer) and any(not one.passed for one in self.controls)

    @property
    def eer(self) -> Measured:
        return self.figures["EER"]


@dataclass(frozen=True)
class Exposed:
    """Protection of one speaker against the strongest attacker.

    Args:
        speaker: who.
        found: share of the speaker's trials whose best-scoring model is the speaker's.
        rank: mean share of other models that score at least as high: 0 is identified, 0.5 is
            chance.
    """

    speaker: str
    found: float
    rank: float


@dataclass(frozen=True)
class Amount:
    """Figures of an attacker who has so many recordings.

    Args:
        attacker, verifier: their names.
        recordings: of each speaker, tested, and enrolled unless ``average`` says all are.
        average: how they are combined.
        speakers: who have so many.
        figures: of :data:`voicenym.evaluation.speech_amount.SHOWN`.
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
        name: of the system, with its settings where they differ from the defaults:
            ``mcadams:low=0.8``; no other of the report has it.
        title: one line.
        parameters: that differ from the system's defaults.
        per: voices were given per speaker or per utterance.
        attacks: the unprotected case is not among them.
        utility: figures by metric: words, naturalness, pitch, distinctiveness, speed.
        exposed: speakers, the least protected first, as the strongest attacker sees them.
        notes: limits of the figures: attacks not run, verifiers badly trained.
        left_out: number of trials that the system failed on, which no figure counts.
        weights: version of its weights: the first 16 digits of their SHA-256, or of the digests of
            several; empty without weights, and in reports of earlier releases.
        amounts: rates by the number of recordings that an attacker has.
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

    @property
    def system(self) -> str:
        """Name of the system without its settings."""
        return self.name.partition(":")[0]

    @property
    def attacked(self) -> bool:
        """Whether an attacker without the key was tried."""
        return any(not attack.holds_key for attack in self.attacks)

    @property
    def strongest(self) -> AttackFigures:
        """The attack with the lowest EER among those that have no key: the headline.

        Broken attacks come last. There is none where the system was not :attr:`attacked`.
        """
        found = (a for a in self.attacks if not a.holds_key)
        return min(found, key=lambda a: (a.broken, a.eer.value))


@dataclass(frozen=True)
class Missed:
    """A recording that was left out.

    Args:
        name: of the recording.
        reason: why.
        step: what failed on it, such as a system; empty where it could not be read.
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
        data: what was evaluated on, in a line.
        speakers, recordings: how many were tried.
        unprotected: figures of the verifiers on original speech.
        systems: evaluated.
        utility: of the originals.
        warnings: about the trials.
        settings: how it was done, in a line.
        left_out: recordings that no figure counts.
        conditions: that are measured by themselves, or are too small for it.
        recognisers: names of those of ``words`` and ``phones``, as far as there were any.
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


def save(evaluation: Evaluation, folder: Path) -> None:
    """Write ``results.json`` and ``results.csv``, for their owner alone: they name speakers."""
    private_folder(folder)
    text = json.dumps(plain(evaluation), indent=1, ensure_ascii=False)
    write_private(folder / RESULTS, text + "\n")
    write_private(folder / TABLE, table(evaluation))


def load(folder: Path) -> Evaluation:
    """Read what :func:`save` wrote; ``folder`` may be the file itself.

    Raises:
        VoicenymError: no such file, or of another kind.
    """
    path = folder / RESULTS if folder.is_dir() else folder
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != FORMAT:
            raise VoicenymError(f"{path}: of another release of voicenym; evaluate again")
        return _evaluation(data)
    except FileNotFoundError:
        raise VoicenymError(
            f"{path}: missing; give a folder that voicenym evaluate wrote"
        ) from None
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise VoicenymError(f"{path}: is no report of voicenym evaluate ({said})") from None


def table(evaluation: Evaluation) -> str:
    """One line for each figure: ``system, attacker, verifier, metric, value, low, high, unit``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["system", "attacker", "verifier", "metric", "value", "low", "high", "unit"])

    def rows(system: str, attacks: tuple[AttackFigures, ...], utility: dict[str, Measured]) -> None:
        for attack in attacks:
            for metric, m in attack.figures.items():
                writer.writerow(
                    [
                        system,
                        attack.attacker,
                        attack.verifier,
                        metric,
                        m.value,
                        m.low,
                        m.high,
                        m.unit,
                    ]
                )
        for metric, m in utility.items():
            writer.writerow([system, "", "", metric, m.value, m.low, m.high, m.unit])

    rows("original", evaluation.unprotected, evaluation.utility)
    for system in evaluation.systems:
        rows(system.name, system.attacks, system.utility)
    return text.getvalue()


def plain(value: Any) -> Any:
    """Dataclasses to what JSON can say; infinities as words, since JSON has none."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _measured(data: dict[str, Any]) -> Measured:
    value, low, high = (
        None if data[name] is None else float(data[name]) for name in ("value", "low", "high")
    )
    assert value is not None
    return Measured(value, low, high, data["unit"])


def figures_from(data: dict[str, Any]) -> dict[str, Measured]:
    """Figures by name from what :func:`plain` made of them."""
    return {name: _measured(item) for name, item in data.items()}


def attack_from(data: dict[str, Any]) -> AttackFigures:
    """An attack's figures from what :func:`plain` made of them."""
    lessons = tuple(Lesson(**item) for item in data.get("learning", ()))
    names = {field: todays_name(data[field]) for field in ("attacker", "verifier")}
    figures = figures_from(data["figures"])
    controls = tuple(
        Control(one["name"], _measured(one["eer"])) for one in data.get("controls", ())
    )
    made = {"figures": figures, "learning": lessons, "limits": tuple(data.get("limits", ()))}
    return AttackFigures(**{**data, **names, **made, "controls": controls})


def _system(data: dict[str, Any]) -> SystemResults:
    return SystemResults(
        **{
            **data,
            "attacks": tuple(map(attack_from, data["attacks"])),
            "utility": figures_from(data["utility"]),
            "exposed": tuple(Exposed(**item) for item in data["exposed"]),
            "notes": tuple(data["notes"]),
            "amounts": tuple(
                Amount(**{**item, "figures": figures_from(item["figures"])})
                for item in data.get("amounts", ())
            ),
        }
    )


def _evaluation(data: dict[str, Any]) -> Evaluation:
    return Evaluation(
        **{
            **data,
            "unprotected": tuple(map(attack_from, data["unprotected"])),
            "systems": tuple(map(_system, data["systems"])),
            "utility": figures_from(data["utility"]),
            "warnings": tuple(data["warnings"]),
            "left_out": tuple(Missed(**item) for item in data.get("left_out", ())),
            "conditions": tuple(ConditionSize(**item) for item in data.get("conditions", ())),
        }
    )
