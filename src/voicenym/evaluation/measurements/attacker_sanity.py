"""Sanity check of attackers: each runs on controls, on which a working attacker finds speakers.

An attacker whose figures on a system and on a control are both near chance is broken: its figure is
no evidence of protection. Costs are bounded: originals and copies do not depend on the system, so
that all systems share vectors and trained verifiers; attackers that train a network have a quarter
of their time limit; only attackers that train nothing run on the system at half strength. Variants
of checked attackers (de-noising, inversion, normalised scores) and voice statistics have the
comparison that they vary, of original speech, as their control: the evaluation measures it anyway.

Original and copied speech keep the whole voice: a failure there is a defect of the attacker. Half
the strength of a strong system may suffice against a working attacker. A failure there counts only
if another attacker with no more knowledge finds speakers at half strength: the same attacker with
another verifier, or, for those that know the system, one that does not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from voicenym.attack import controls
from voicenym.attack.attackers import Attacker, Comparing, Denoising, SemiInformedBackEnd
from voicenym.attack.normalised_scores import Normalised
from voicenym.attack.scenario import Protection, Scenario
from voicenym.attack.searches.inversion import Inversion
from voicenym.attack.trained.trained_attackers import TrainedAttacker
from voicenym.corpus.embedder import Embedder
from voicenym.errors import VoicenymError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.measurements.finished_parts import FinishedParts
from voicenym.evaluation.measurements.protection import Attacked, split
from voicenym.evaluation.reported_metrics import headline
from voicenym.evaluation.results import AttackFigures, Control, Measured, below_chance
from voicenym.evaluation.trial_plans.trials import Trials
from voicenym.evaluation.trial_plans.voice_targets import Drawn
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

SHARE = 0.25
"""Share of a network's time limit for each control."""
NEAR_CHANCE = 45.0
"""EER in % from which the report questions the choice of target voices."""
LEARNING = (TrainedAttacker, SemiInformedBackEnd)
"""Attackers that learn from the pool; they are not checked if it is only known as anonymized."""
NO_ORIGINALS = "the pool is anonymized speech alone"
NO_RATES: Mapping[tuple[str, str], Measured] = {}
REPLICATES = 200
"""Bootstrap draws for figures of controls."""


def checked(
    found: Sequence[Attacked],
    attackers: Sequence[Attacker],
    scenario: Scenario,
    trials: Trials,
    verifiers: Sequence[Verifier],
    embedder: Embedder,
    user: Key,
    say: Callable[[str], None] = lambda text: None,
    parts: FinishedParts | None = None,
    on: Any = None,
    originals: Mapping[tuple[str, str], Measured] = NO_RATES,
) -> list[Attacked]:
    """Attacks with the figures of the same attackers on controls.

    Args:
        found: attacks on a system.
        attackers: of these attacks.
        scenario: of these attacks.
        trials: which pairs count.
        verifiers: for attackers that do not train their own.
        embedder: computes and caches vectors.
        user: the user's key, for the system at half strength.
        say: receives a line of progress.
        parts: keeps finished controls for a run that goes on.
        on: what the attacks depend on besides the plan.
        originals: equal error rates of comparisons of original speech, by attacker and verifier:
            the control of attackers that do not run on controls themselves.
    """
    keep = FinishedParts.nowhere(say) if parts is None else parts
    figures: dict[tuple[str, str], dict[str, Measured]] = {}
    unchecked: dict[tuple[str, str], dict[str, str]] = {}
    for name, protection in _protections(scenario.protection, user):
        control = dataclasses.replace(scenario, protection=protection)
        for attacker in attackers:
            if not _runs(attacker, name) or attacker.obstacle(control):
                continue
            learns_there = scenario.pool_is_original or not isinstance(attacker, LEARNING)
            brief = _brief(attacker)
            depends = on if name == controls.HALF else protection.per  # the others hold no system
            for verifier in verifiers[:1] if attacker.trains_verifier else verifiers:
                who = attacker.name, attacker.verifier_name(verifier)
                eer, why = None, NO_ORIGINALS
                if learns_there:
                    eer, why = keep.control(
                        f"{name}: {', '.join(who)}",
                        (name, depends, brief, brief.settings(), verifier),
                        partial(_eer, brief, control, trials, verifier, embedder),
                    )
                if eer is None:
                    unchecked.setdefault(who, {})[name] = why
                else:
                    figures.setdefault(who, {})[name] = eer
    references = {attacker.name: attacker.reference for attacker in attackers}
    for one in found:
        who = one.figures.attacker, one.figures.verifier
        compared = references.get(who[0], ""), who[1]
        checked_itself = who in figures or who in unchecked
        if compared in originals and not (one.figures.holds_key or checked_itself):
            figures[who] = {controls.ORIGINAL: originals[compared]}
    informed = {one.figures.attacker: one.figures.informed for one in found}
    return [
        dataclasses.replace(
            one,
            figures=dataclasses.replace(
                one.figures,
                controls=_judged(one.figures, figures, informed),
                unchecked=unchecked.get((one.figures.attacker, one.figures.verifier), {}),
            ),
        )
        for one in found
    ]


def _eer(
    attacker: Attacker,
    control: Scenario,
    trials: Trials,
    verifier: Verifier,
    embedder: Embedder,
) -> tuple[Measured | None, str]:
    """The attacker's EER on a control; None, and why, where it cannot be run."""
    try:
        scores = attacker.scores(control, verifier, embedder)
    except VoicenymError as error:
        # a pool with enough speech in two voices may have too little in one
        return None, str(error)
    numbers = TrialScores(*split(scores, trials), None, replicates=REPLICATES)
    return reported_metrics.measure(numbers, only=lambda one: one is headline())[
        headline().name
    ], ""


def _judged(
    attack: AttackFigures,
    figures: Mapping[tuple[str, str], Mapping[str, Measured]],
    informed: Mapping[str, bool],
) -> tuple[Control, ...]:
    """The controls of an attacker, and whether a failure on them shows that it is broken.

    Args:
        attack: of the attacker.
        figures: EER by attacker and verifier, and by control.
        informed: whether an attacker knows the system.
    """
    found_at_half = [
        attacker
        for (attacker, _), own in figures.items()
        if (eer := own.get(controls.HALF)) is not None and below_chance(eer)
    ]
    knows_no_more = any(attack.informed or not informed.get(one, True) for one in found_at_half)
    own = figures.get((attack.attacker, attack.verifier), {})
    return tuple(
        Control(name, eer, name != controls.HALF or knows_no_more) for name, eer in own.items()
    )


def notes(attacks: Sequence[AttackFigures], voices: Drawn) -> tuple[str, ...]:
    """Notes of the report on the results of the controls.

    Args:
        attacks: on a system.
        voices: how its target voices were drawn.
    """
    broken = [attack for attack in attacks if attack.broken]
    found = [
        f"{attack.attacker}, {attack.verifier}, is broken, not defeated: on "
        f"{' and '.join(c.name for c in attack.failed)} it finds nobody either; "
        "its figure is no evidence"
        for attack in broken
    ]
    found += [
        f"{attack.attacker}, {attack.verifier}, could not be checked on {name}: {why}; whether it "
        "works there is not known"
        for attack in attacks
        for name, why in attack.unchecked.items()
    ]
    alone = [
        f"{attack.attacker}, {attack.verifier}"
        for attack in attacks
        if not (attack.holds_key or attack.controls or attack.unchecked or attack.evident)
    ]
    if alone:
        found.append(
            f"{' and '.join(alone)} did not run on controls (--no-sanity) and finds nobody here: "
            "whether it works is not known, and its figure is no evidence"
        )
    undecided = [
        f"{attack.attacker}, {attack.verifier}"
        for attack in attacks
        if not attack.broken
        for one in attack.controls
        if not (one.passed or one.conclusive)
    ]
    if undecided:
        found.append(
            f"at half strength {' and '.join(undecided)} finds nobody, nor does anybody who knows "
            "no more: half of this system is enough against them, so that this control decides "
            "nothing"
        )
    best = min((a.eer.value for a in attacks if not a.holds_key and not a.broken), default=0.0)
    if best >= NEAR_CHANCE:
        others = " and ".join(f"--targets {one}" for one in voices.others)
        cure = f": measure with other targets as well ({others})" if others else ""
        used = f"; targets here: {voices.used}" if voices.used else ""
        found.append(
            "an EER near 50 % may come from the choice of target voices, which can break an attack "
            "(Franzreb et al., arXiv 2508.09803: 22 % with random and 49 % with same-sex targets "
            f"for one system{used}){cure}"
        )
    return tuple(found)


def _protections(protection: Protection, user: Key) -> list[tuple[str, Protection]]:
    half = controls.halved(protection, user)
    return [
        (controls.ORIGINAL, controls.original(protection)),
        (controls.COPY, controls.copied(protection)),
        *([(controls.HALF, half)] if half is not None else []),
    ]


def _runs(attacker: Attacker, control: str) -> bool:
    """Whether an attacker is checked on a control; variants of a checked one are not."""
    if attacker.holds_key or isinstance(attacker, Denoising | Inversion | Normalised):
        return False
    return control != controls.HALF or isinstance(attacker, Comparing)


def _brief(attacker: Attacker) -> Attacker:
    """The attacker with a part of its limits of time and steps, if it trains a network."""
    if not isinstance(attacker, TrainedAttacker):
        return attacker
    return dataclasses.replace(attacker, training=attacker.training.share(SHARE))
