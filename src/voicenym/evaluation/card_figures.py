"""Figures of a report on the systems' cards."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import voicenym.systems
from voicenym.anonymizer import SYSTEMS
from voicenym.anonymizer.card import LEARNED, live_form
from voicenym.attack.attackers import KeyHolder
from voicenym.attack.former_names import todays_name
from voicenym.errors import VoicenymError
from voicenym.evaluation.reported_metrics import headline, metrics
from voicenym.evaluation.results import (
    AttackFigures,
    Evaluation,
    Measured,
    SystemResults,
    below_chance,
    by_strength,
)
from voicenym.registry import OURS

FIGURES = Path(next(iter(voicenym.systems.__path__))) / "figures.json"
ORIGINAL = "original"
WORDS = "words"
"""Subject of the metrics that a recogniser of words measures."""
SPEED, NATURALNESS = "speed", "naturalness"
"""Subjects of the real-time factor, and of predicted opinion scores."""


def write(
    evaluation: Evaluation, file: Path = FIGURES, add: bool = False, plugins: bool = False
) -> Path:
    """Writes the figures of a report's systems to their cards; other cards stay.

    Cards have figures of default settings and bundled weights only: :func:`left_out` names the
    report's others, which are left out. Figures of live forms (``evaluate --live``) stand beside
    those of whole recordings.

    Args:
        evaluation: the report.
        file: of all cards' figures.
        add: whether the report's attackers are added to a card of the same data, where they replace
            attackers of the same name; other figures stay. Broken attackers are on no card.
        plugins: whether the file is of another package, which keeps those of its systems in its own
            ``figures.json``; those of voicenym's are then left out.

    Raises:
        VoicenymError: the report has unknown systems, or none with default settings, or none of
            another package; or the file cannot be read or written.
    """
    other = left_out(evaluation)
    if other and len(other) == len(evaluation.systems):
        raise VoicenymError(
            f"{', '.join(other)}: cards have figures of default settings and bundled weights only; "
            "evaluate the system without settings, and without a folder of weights of your own"
        )
    systems = [system for system in evaluation.systems if system.name not in other]
    systems = _of_the_file(systems, plugins)
    cards = _read(file) if file.is_file() else {}
    for system in systems:
        found = rows(system, evaluation)
        name = _card(system)
        cards[name] = _joined(_without(cards.get(name, []), system), found) if add else found
    only_live = all(_card(system) != system.system for system in systems)
    if (add or only_live) and cards.get(ORIGINAL):
        return _written(cards, file)
    cards[ORIGINAL] = [
        *(
            _row(headline().name, f"{a.attacker}, {a.verifier}", a.eer, evaluation)
            for a in evaluation.unprotected
        ),
        *_utility("original", evaluation.utility, evaluation),
    ]
    return _written(cards, file)


def write_words(evaluation: Evaluation, file: Path = FIGURES) -> Path:
    """Writes a report's figures of words and phones to the cards, in place of earlier ones.

    All other figures stay, whatever their data. Figures of words without the name of a recogniser
    are removed from all cards: their recogniser knew the sentences.

    Args:
        evaluation: the report.
        file: of all cards' figures.

    Raises:
        VoicenymError: the report names no recogniser.
    """
    if not evaluation.recognisers:
        raise VoicenymError("the report has no figures of words or phones; evaluate with some")
    return _replaced(evaluation, evaluation.recognisers, file)


def write_speed(evaluation: Evaluation, file: Path = FIGURES) -> Path:
    """Writes a report's figures of speed to the cards, in place of earlier ones; others stay.

    Args:
        evaluation: the report, of ``--metric RTF``.
        file: of all cards' figures.

    Raises:
        VoicenymError: the report has no figures of speed.
    """
    return _measured(evaluation, SPEED, "RTF", file)


def write_naturalness(evaluation: Evaluation, file: Path = FIGURES) -> Path:
    """Writes a report's figures of naturalness to the cards, in place of earlier ones; others stay.

    They depend on the recordings that are drawn: figures to compare are those of one report.

    Args:
        evaluation: the report, of ``--metric DNSMOS``.
        file: of all cards' figures.

    Raises:
        VoicenymError: the report has no figures of naturalness.
    """
    return _measured(evaluation, NATURALNESS, "DNSMOS", file)


def _measured(evaluation: Evaluation, subject: str, metric: str, file: Path) -> Path:
    measured = {name for system in evaluation.systems for name in system.utility}
    if measured.isdisjoint(_names({subject})):
        raise VoicenymError(
            f"the report has no figures of {subject}; evaluate with --metric {metric}"
        )
    return _replaced(evaluation, {subject}, file)


def _names(subjects: Container[str]) -> set[str]:
    """Names of the metrics of subjects."""
    return {metric.name for metric in metrics() if metric.display.subject in subjects}


def _replaced(evaluation: Evaluation, subjects: Container[str], file: Path) -> Path:
    """Writes a report's figures of some subjects to the cards, in place of earlier ones."""
    cards = _read(file)
    judged = _names(subjects)
    found = {
        chosen: _utility("anonymized", system.utility, evaluation)
        for system in evaluation.systems
        if (chosen := _card(system))
    }
    if any(_card(system) == system.system for system in evaluation.systems):
        found[ORIGINAL] = _utility("original", evaluation.utility, evaluation)
    for name, card in cards.items():
        new = [row for row in found.get(name, ()) if row["metric"] in judged]
        former = judged if name in found else set()
        kept = [row for row in card if row["metric"] not in former and not nameless(row)]
        cards[name] = [*kept, *new]
    return _written(cards, file)


def nameless(row: Mapping[str, Any]) -> bool:
    """Whether a row is a figure of words without the name of a recogniser."""
    subjects = {metric.name: metric.display.subject for metric in metrics()}
    return subjects.get(row["metric"]) == WORDS and ", " not in row["condition"]


def _utility(
    condition: str, figures: Mapping[str, Measured], evaluation: Evaluation
) -> list[dict[str, Any]]:
    """Rows of the utility metrics on the cards; those of words and phones name the recogniser."""
    found = []
    for metric in metrics():
        if metric.display.card and metric.name in figures:
            judge = evaluation.recognisers.get(metric.display.subject, "")
            who = f"{condition}, {judge}" if judge else condition
            found.append(_row(metric.name, who, figures[metric.name], evaluation))
    return found


def left_out(evaluation: Evaluation) -> list[str]:
    """Names of a report's systems whose settings differ from the defaults, or which had weights of
    the user's in place of the bundled ones.

    Reports of earlier releases have default settings only. The places of weights that no package
    holds are no settings.
    """
    return [system.name for system in evaluation.systems if not _card(system)]


def _card(system: SystemResults) -> str:
    """Name of the card with a system's figures; empty where it has other settings or weights."""
    if system.own_weights:
        return ""
    name = system.system
    if system.name in (name, live_form(name)):
        return system.name
    places = SYSTEMS.make(name).unbundled if name in SYSTEMS else ()
    given = set(system.parameters)
    return name if given and given <= set(places) else ""


def _of_the_file(systems: Sequence[SystemResults], plugins: bool) -> list[SystemResults]:
    """The systems whose figures the file of voicenym's own, or of another package, keeps."""
    unknown = [system.system for system in systems if system.system not in SYSTEMS]
    foreign = [
        system
        for system in systems
        if system.system in SYSTEMS and SYSTEMS.package(system.system) != OURS
    ]
    if unknown:
        raise VoicenymError(
            f"{unknown[0]} is no system of voicenym's own, nor of a package that is installed "
            "here; install the one that it is of"
        )
    if plugins and not foreign:
        raise VoicenymError(
            "the report has no system of another package; figures of voicenym's own go to its "
            "cards without --file"
        )
    if not plugins and foreign:
        raise VoicenymError(
            f"{foreign[0].system} is no system of voicenym's own, whose cards' figures are kept "
            "here; write those of other packages to the figures.json beside the system's module, "
            "with --file FILE"
        )
    return foreign if plugins else list(systems)


def _read(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Figures by card."""
    try:
        cards = json.loads(todays_name(file.read_text("utf-8")))
    except FileNotFoundError as error:
        raise VoicenymError(
            f"{file}: not there; write a whole report to it first, without --words, --speed and "
            "--naturalness"
        ) from error
    except (OSError, ValueError) as error:
        raise VoicenymError(f"{file}: cannot be read ({error}); mend or delete it") from error
    if not isinstance(cards, dict) or not all(isinstance(card, list) for card in cards.values()):
        raise VoicenymError(f"{file}: holds no figures of cards; give a figures.json")
    return cards


def _written(cards: dict[str, list[dict[str, Any]]], file: Path) -> Path:
    temporary = file.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps(cards, indent=1, sort_keys=True) + "\n", "utf-8")
        temporary.replace(file)
    except OSError as error:
        raise VoicenymError(
            f"{file}: cannot be written ({error.strerror}); choose another place, or ask its "
            "owner for permission"
        ) from error
    return file


def _joined(
    card: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A card's rows with a report's attackers among them, the strongest first.

    Raises:
        VoicenymError: the card is of other data.
    """
    if card and found and card[0]["data"] != found[0]["data"]:
        raise VoicenymError(
            f"the card is of {card[0]['data']}, the report of {found[0]['data']}: figures of "
            "different data do not stand on one card"
        )
    rate = headline().name
    both = {row["condition"]: row for row in (*card, *found) if row["metric"] == rate}
    rates = sorted(
        both.values(),
        key=lambda row: (row["condition"].startswith(KeyHolder.name), row["value"]),
    )
    # the card's utility figures stay: an evaluation of a few attackers may use a smaller sample
    utility = {row["metric"]: row for row in (*found, *card) if row["metric"] != rate}
    return [*rates, *utility.values()]


def _without(card: Sequence[dict[str, Any]], system: SystemResults) -> list[dict[str, Any]]:
    """A card's rows without earlier figures of attackers that turned out to be broken; a figure
    below chance stays, since it is evidence by itself.
    """
    broken = {_condition(attack) for attack in system.attacks if attack.broken}

    def stays(row: Mapping[str, Any]) -> bool:
        if row["metric"] != headline().name or row["condition"] not in broken:
            return True
        return below_chance(Measured(row["value"], row["low"], row["high"], row["unit"]))

    return [row for row in card if stays(row)]


def rows(system: SystemResults, evaluation: Evaluation) -> list[dict[str, Any]]:
    """Fields of :class:`voicenym.anonymizer.Figure`: the strongest attacker first.

    Broken attackers are left out: their figures are no evidence.
    """
    found = [
        _row(headline().name, _condition(attack), attack.eer, evaluation)
        for attack in by_strength(system.attacks)
        if not attack.broken
    ]
    return [*found, *_utility("anonymized", system.utility, evaluation)]


def _condition(attack: AttackFigures) -> str:
    """Attacker and verifier, and how many recordings it learned from, on which its figure depends:
    a card keeps figures of each number.
    """
    who = f"{attack.attacker}, {attack.verifier}"
    return f"{who}{LEARNED}{attack.learned_from:,} recordings" if attack.learned_from else who


def learned_from(row: Mapping[str, Any]) -> int:
    """How many recordings the attacker of a card's figure learned from; 0 if from none."""
    count = re.search(rf"{LEARNED}([\d,]+) recordings$", row["condition"])
    return int(count[1].replace(",", "")) if count else 0


def _row(metric: str, condition: str, m: Measured, evaluation: Evaluation) -> dict[str, Any]:
    def short(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.4g}")

    return {
        "metric": metric,
        "condition": condition,
        "value": short(m.value),
        "low": short(m.low),
        "high": short(m.high),
        "unit": m.unit,
        "data": data_of(evaluation),
        "date": evaluation.date,
    }


def data_of(evaluation: Evaluation) -> str:
    """What a report measured: its data, and how many speakers."""
    return f"{evaluation.data}, {evaluation.speakers} speakers"
