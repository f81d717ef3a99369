"""Target voices of an evaluation: drawn at random, of the speaker's sex, or one for all speakers.

The choice of target voices changes an attacker's figure: Franzreb et al. (arXiv 2508.09803) find an
EER of 22 % with random and of 49 % with same-sex targets for one system. It is a setting of the
protocol, and attackers who know the system draw their own voices by the same rule.

- Systems that choose a voice from a pool or a mixture have a parameter ``sex``: ``any`` for random
  targets, ``same`` for those of the speaker's sex.
- Systems whose pseudonym draws a voice of its own pitch draw until the voice is of the speaker's
  sex (:class:`voicenym.corpus.transforms.Anonymize`).
- Systems that change the speaker's own voice draw a change; they have no target of a sex.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from voicenym.anonymizer import SYSTEMS, load
from voicenym.anonymizer.system_settings import changed
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import EVERYBODY, NO_SEX
from voicenym.errors import VoicenymError
from voicenym.identity import METHODS
from voicenym.identity.own_parts import unplaced
from voicenym.pseudonym import Key
from voicenym.registry.grammar import split

RANDOM, SAME_SEX, ONE_FOR_ALL = "random", "same-sex", "one-for-all"
TARGETS = (RANDOM, SAME_SEX, ONE_FOR_ALL)
RULES = {"any": RANDOM, "same": SAME_SEX, "opposite": "opposite-sex"}
"""Targets by the parameter ``sex`` of pools and mixtures."""


@dataclass(frozen=True)
class Drawn:
    """Target voices of one system.

    Args:
        used: name of the targets, for the report.
        parameters: of the system, that differ from its defaults.
        per: voices per ``speaker``, per ``utterance``, or one for ``everybody``.
        same_sex: whether pseudonyms are drawn until the voice is of the speaker's sex.
        others: further targets that the system can draw.
    """

    used: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    per: str = "speaker"
    same_sex: bool = False
    others: tuple[str, ...] = ()


def drawn(name: str, parameters: Mapping[str, Any], per: str, targets: str = "") -> Drawn:
    """Target voices of a system.

    Args:
        name: of the system.
        parameters: of the system.
        per: as of :class:`voicenym.evaluation.evaluation_plan.Plan`.
        targets: of :data:`TARGETS`; empty for the system's own rule.

    Raises:
        VoicenymError: the system cannot draw such targets; it names the system and those it can.

    Example:
        >>> drawn("mcadams", {}, "speaker").used
        'random'
        >>> drawn("recast", {}, "speaker", "same-sex").same_sex
        True
    """
    can = possible(name, parameters)
    if targets and targets not in can:
        there = ", ".join(can) or "none: its settings give all speakers one voice"
        raise VoicenymError(
            f"--targets {targets}: {name} cannot draw them; it can draw {there}. Leave it out, or "
            "evaluate it in a run of its own"
        )
    rule = _rule(name, parameters)
    own = (rule and RULES[rule]) or RANDOM
    used = targets or (own if can and per != EVERYBODY else ONE_FOR_ALL)
    if targets and rule:
        parameters = _with_rule(name, parameters, "same" if targets == SAME_SEX else "any")
    return Drawn(
        used,
        changed(name, parameters),
        EVERYBODY if targets == ONE_FOR_ALL else per,
        targets == SAME_SEX and not rule,
        tuple(one for one in can if one != used),
    )


def possible(name: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """Targets that a system can draw; none if its settings give all speakers one voice."""
    system = load(name, **parameters)
    if not system.draws:
        return ()
    if _rule(name, parameters):
        return TARGETS if _knows_sex(parameters) else (RANDOM, ONE_FOR_ALL)
    has_pitch = system.median_f0(Key(bytes(32)).pseudonym("")) is not None
    return TARGETS if has_pitch else (RANDOM, ONE_FOR_ALL)


def check_sexes(recordings: Iterable[Recording]) -> None:
    """Refuses same-sex targets for speakers of unknown sex.

    Raises:
        VoicenymError: a speaker's sex is unknown; the message names the first one.
    """
    unknown = sorted({one.speaker for one in recordings if not one.sex})
    if unknown:
        raise VoicenymError(
            f"--targets same-sex: {NO_SEX.format(unknown[0])} ({len(unknown)} such)"
        )


def _identity(parameters: Mapping[str, Any]) -> str:
    return str(parameters.get("identity") or "").strip()


def _knows_sex(parameters: Mapping[str, Any]) -> bool:
    """Whether the system's choice uses the sex of the speaker, which methods estimate from the
    vector.
    """
    specification = _identity(parameters)
    return not specification or unplaced(specification).source_dependent


def _rule(name: str, parameters: Mapping[str, Any]) -> str:
    """Parameter ``sex`` of a system or of its identity method; empty without one."""
    specification = _identity(parameters)
    if specification:
        return _method_rule(specification)
    default = {item.name: item.default for item in SYSTEMS.parameters(name)}.get("sex", "")
    return str(parameters.get("sex", default))


def _method_rule(specification: str) -> str:
    method, fields = split(specification)
    for item in METHODS.parameters(method):
        if item.name == "sex":
            return fields.get("sex", str(item.default))
    inner = fields.get("of", "")
    return _method_rule(_bare(inner)) if inner else ""


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _with_rule(name: str, parameters: Mapping[str, Any], rule: str) -> dict[str, Any]:
    """Parameters with another ``sex``, of the system or of its identity method."""
    specification = _identity(parameters)
    if specification:
        return {**parameters, "identity": _method_with_rule(specification, rule)}
    return {**parameters, "sex": rule}


def _method_with_rule(specification: str, rule: str) -> str:
    method, fields = split(specification)
    if any(item.name == "sex" for item in METHODS.parameters(method)):
        fields["sex"] = rule
    else:
        fields["of"] = f"({_method_with_rule(_bare(fields['of']), rule)})"
    return f"{method}:{','.join(f'{key}={value}' for key, value in fields.items())}"
