"""Targets of an evaluation: systems with settings or files, and the attackers' resources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from voicenym.anonymizer import load
from voicenym.anonymizer.system_settings import label
from voicenym.attack.attacker_resources import Resources
from voicenym.attack.scenario import Protection
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import FILES
from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Plan, key
from voicenym.evaluation.trial_plans.voice_targets import Drawn, check_sexes, drawn


@dataclass(frozen=True)
class Target:
    """Target of an evaluation: a system with settings, or files of an external system.

    Args:
        name: in the report, with the settings.
        title: one line.
        protection: of the trials.
        weights: version of the system's weights.
        own_weights: whether they are the user's, which the system finds in place of the bundled.
        voices: how its target voices are drawn.
        attackers_weights: version of the weights that attackers run it with, if these are others.
    """

    name: str
    title: str
    protection: Protection
    weights: str = ""
    own_weights: bool = False
    voices: Drawn = field(default_factory=Drawn)
    attackers_weights: str = ""

    @property
    def system(self) -> str | None:
        """System without its settings; None if attackers cannot run it."""
        return self.protection.system

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings of the system that differ from its defaults."""
        return dict(self.protection.parameters)


def targets_of(plan: Plan) -> list[Target]:
    """Targets of a plan.

    Raises:
        VoicenymError: an unknown system or setting; the same system and settings twice; target
            voices that a system cannot draw.
    """
    targets = [_target(plan, name, parameters) for name, parameters in plan.systems]
    if plan.files is not None:
        title = "files that were anonymized elsewhere"
        files = Protection.by_files(plan.files, plan.attackers_files, plan.line)
        targets.append(Target(FILES, title, files))
    name, count = Counter(target.name for target in targets).most_common(1)[0]
    if count > 1:
        raise VoicenymError(f"{name} is evaluated {count} times; name each system and setting once")
    return targets


def _target(plan: Plan, name: str, parameters: Mapping[str, Any]) -> Target:
    voices = drawn(name, parameters, plan.per, plan.targets)
    if voices.same_sex:
        check_sexes([*(r for m in plan.trials.models for r in m.recordings), *plan.pool])
    system = load(name, **voices.parameters)
    user = key(plan.seed, "user")
    settings = tuple(sorted(voices.parameters.items()))
    theirs = plan.attackers_systems.get(name)
    protected = Protection.by(
        name,
        user,
        voices.per,
        settings,
        plan.line,
        voices.same_sex,
        None if theirs is None else tuple(sorted(theirs.items())),
    )
    called = label(name, voices.parameters, system.version)
    own = bool(system.own_weights)
    other = "" if theirs is None else load(name, **theirs).version
    return Target(called, system.card.title, protected, system.version, own, voices, other)


def pool_of(plan: Plan, target: Target) -> tuple[Recording, ...]:
    """Speech of other people for attacks on a target; a system never runs on the output of
    another.
    """
    return plan.pool if plan.pool_is_original or target.system is None else ()


def resources_of(
    plan: Plan, target: Target, say: Callable[[str], None] = lambda text: None
) -> Resources:
    """Resources of the attackers on a target."""
    pool = pool_of(plan, target)
    enrolment = [recording for model in plan.trials.models for recording in model.recordings]

    def there(recordings: Sequence[Recording]) -> bool:
        return bool(recordings) and all(r.name in plan.attackers_files for r in recordings)

    theirs = target.protection.attackers_parameters
    return Resources(
        target.system,
        target.parameters if theirs is None else dict(theirs),
        tuple(plan.denoisers),
        plan.keys,
        len(pool),
        len({recording.speaker for recording in pool}),
        plan.normalise,
        plan.attacker_training,
        say,
        there(enrolment),
        there(pool),
        plan.published_enrolment or target.system is not None,
        plan.pool_is_original,
        named=plan.only,
    )
