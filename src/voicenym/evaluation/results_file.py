"""Result files of an evaluation: JSON, which :func:`load` reads, and a CSV table."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from pathlib import Path
from typing import Any

from voicenym.attack.former_names import todays_name
from voicenym.errors import VoicenymError
from voicenym.evaluation.results import (
    FORMAT,
    Amount,
    AttackFigures,
    Control,
    Evaluation,
    Exposed,
    Lesson,
    Missed,
    SystemResults,
)
from voicenym.evaluation.trial_plans.conditions import ConditionSize
from voicenym.metrics.metric import Measured
from voicenym.private import private_folder, write_private
from voicenym.special_files import refuse_named_pipe

RESULTS = "results.json"
TABLE = "results.csv"


def save(evaluation: Evaluation, folder: Path) -> None:
    """Writes ``results.json`` and ``results.csv``, readable by their owner alone: they name
    speakers.
    """
    private_folder(folder)
    text = json.dumps(plain(evaluation), indent=1, ensure_ascii=False)
    write_private(folder / RESULTS, text + "\n")
    write_private(folder / TABLE, table(evaluation))


def load(folder: Path) -> Evaluation:
    """Results that :func:`save` wrote; ``folder`` may be the file itself.

    Raises:
        VoicenymError: no such file, or of another kind.
    """
    path = folder / RESULTS if folder.is_dir() else folder
    refuse_named_pipe(path)
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != FORMAT:
            raise VoicenymError(f"{path}: of another release of voicenym; evaluate again")
        return _evaluation(data)
    except FileNotFoundError:
        raise VoicenymError(
            f"{path}: missing; give a folder that voicenym evaluate wrote"
        ) from None
    except OSError as error:
        raise VoicenymError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise VoicenymError(
            f"{path}: is no report of voicenym evaluate, or is damaged; give a folder that it "
            "wrote, or evaluate again"
        ) from error


def table(evaluation: Evaluation) -> str:
    """CSV table with a line for each figure: ``system, attacker, verifier, metric, value, low,
    high, unit``.
    """
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
    """Dataclasses as values of JSON; infinities become words."""
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
    """Figures by name; inverse of :func:`plain`."""
    return {name: _measured(item) for name, item in data.items()}


def attack_from(data: dict[str, Any]) -> AttackFigures:
    """An attack's figures; inverse of :func:`plain`."""
    lessons = tuple(Lesson(**item) for item in data.get("learning", ()))
    names = {field: todays_name(data[field]) for field in ("attacker", "verifier")}
    figures = figures_from(data["figures"])
    controls = tuple(
        Control(one["name"], _measured(one["eer"]), one.get("conclusive", True))
        for one in data.get("controls", ())
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
            "files": tuple(data.get("files", ())),
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
