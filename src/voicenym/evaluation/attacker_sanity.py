"""Sanity of attackers: each runs on controls, on which an attacker that works finds people.

An attacker whose figure is near chance and who finds nobody on a control either is broken, not
defeated: its figure is no evidence. Costs are bounded: originals and copies do not depend on the
system, so that vectors and trained verifiers of one system's check serve the next; who trains a
network has a quarter of its time limit; half the strength is tried by those who train nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from voicenym.attack import controls
from voicenym.attack.attackers import Attacker, Comparing, Denoising, SemiInformedBackEnd
from voicenym.attack.inversion import Inversion
from voicenym.attack.normalised_scores import Normalised
from voicenym.attack.scenario import Protection, Scenario
from voicenym.attack.trained_attackers import TrainedAttacker
from voicenym.corpus.embedder import Embedder
from voicenym.errors import VoicenymError
from voicenym.evaluation import reported_metrics
from voicenym.evaluation.protection import Attacked, split
from voicenym.evaluation.reported_metrics import headline
from voicenym.evaluation.results import AttackFigures, Control
from voicenym.evaluation.trials import Trials
from voicenym.evaluation.voice_targets import Drawn
from voicenym.metrics.metric_inputs import TrialScores
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

SHARE = 0.25
"""Of a network's time limit, for each control."""
NEAR_CHANCE = 45.0
"""EER in % from which the choice of target voices is questioned."""
LEARNING = (TrainedAttacker, SemiInformedBackEnd)
"""Attackers that learn from the pool; they are not checked where it is anonymized alone."""
REPLICATES = 200
"""Of the bootstrap, for figures of controls."""


def checked(
    found: Sequence[Attacked],
    attackers: Sequence[Attacker],
    scenario: Scenario,
    trials: Trials,
    verifiers: Sequence[Verifier],
    embedder: Embedder,
    user: Key,
    say: Callable[[str], None] = lambda text: None,
) -> list[Attacked]:
    """Attacks with the figures of the same attackers on controls.

    Args:
        found: attacks on a system.
        attackers: who made them.
        scenario: of these attacks.
        trials: which pairs count.
        verifiers: for attackers that do not train their own.
        embedder: computes and caches vectors.
        user: the user's key, for the system at half strength.
        say: receives a line of progress.
    """
    figures: dict[tuple[str, str], tuple[Control, ...]] = {}
    for name, protection in _protections(scenario.protection, user):
        control = dataclasses.replace(scenario, protection=protection)
        for attacker in attackers:
            if not _runs(attacker, name) or attacker.obstacle(control):
                continue
            if not scenario.pool_is_original and isinstance(attacker, LEARNING):
                continue
            brief = _brief(attacker)
            for verifier in verifiers[:1] if attacker.trains_verifier else verifiers:
                who = attacker.verifier_name(verifier)
                say(f"{name}: {attacker.name}, {who}")
                try:
                    scores = brief.scores(control, verifier, embedder)
                except VoicenymError as error:
                    # a pool that has enough speech in two voices may not have it in one
                    say(f"{name}: {attacker.name}, {who}, is not checked: {error}")
                    continue
                numbers = TrialScores(*split(scores, trials), None, replicates=REPLICATES)
                eer = reported_metrics.measure(numbers, only=lambda one: one is headline())
                own = Control(name, eer[headline().name])
                figures[attacker.name, who] = (*figures.get((attacker.name, who), ()), own)
    return [
        dataclasses.replace(
            one,
            figures=dataclasses.replace(
                one.figures,
                controls=figures.get((one.figures.attacker, one.figures.verifier), ()),
            ),
        )
        for one in found
    ]


def notes(attacks: Sequence[AttackFigures], voices: Drawn) -> tuple[str, ...]:
    """What the controls say of the attackers, for the report's notes.

    Args:
        attacks: on a system.
        voices: how its target voices were drawn.
    """
    broken = [attack for attack in attacks if attack.broken]
    found = [
        f"{attack.attacker}, {attack.verifier}, is broken, not defeated: on "
        f"{' and '.join(c.name for c in attack.controls if not c.passed)} it finds nobody either; "
        "its figure is no evidence"
        for attack in broken
    ]
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
    """The attacker with a part of its time limit, where it trains a network."""
    if not isinstance(attacker, TrainedAttacker):
        return attacker
    training = attacker.training
    return dataclasses.replace(
        attacker, training=dataclasses.replace(training, seconds=SHARE * training.seconds)
    )
