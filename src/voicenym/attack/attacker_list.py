"""The attackers by name, and those that run in an evaluation.

An attacker is a class in a file of this package and one line here. Other packages declare theirs
under the entry-point group ``voicenym.attackers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from voicenym.attack.attacker_resources import (
    LEAST_FOR_STATISTICS,
    AttackerTraining,
    Resources,
)
from voicenym.attack.attackers import Attacker, Comparing
from voicenym.attack.denoisers import denoisers
from voicenym.attack.former_names import FORMER
from voicenym.attack.normalised_scores import Normalised
from voicenym.errors import VoicenymError
from voicenym.registry import Registry

PLACES = {  # in the order in which they run
    "unprotected": "voicenym.attack.attackers:Unprotected",
    "unprotected-per-trial": "voicenym.attack.searches.key_search:UnprotectedPerTrial",
    "ignorant": "voicenym.attack.attackers:Ignorant",
    "de-noising": "voicenym.attack.attackers:Denoising",
    "key-holder": "voicenym.attack.attackers:KeyHolder",
    "key-holder-per-trial": "voicenym.attack.key_holder_per_trial:KeyHolderPerTrial",
    "lazy-informed": "voicenym.attack.attackers:LazyInformed",
    "key-search": "voicenym.attack.searches.key_search:KeySearch",
    "nearest-in-target-voice": "voicenym.attack.searches.target_voices:NearestInTargetVoice",
    "inversion": "voicenym.attack.searches.inversion:Inversion",
    "semi-informed-key-search": "voicenym.attack.searches.trained_key_search:SemiInformedKeySearch",
    "semi-informed-back-end": "voicenym.attack.attackers:SemiInformedBackEnd",
    "semi-informed-i-vectors": "voicenym.attack.trained.trained_attackers:SemiInformedIVectors",
    "semi-informed-prosody": "voicenym.attack.trained.trained_attackers:SemiInformedProsody",
    "semi-informed-timing": "voicenym.attack.fusion.channel_attackers:SemiInformedTiming",
    "semi-informed-prosody-and-timing": (
        "voicenym.attack.fusion.channel_attackers:SemiInformedProsodyAndTiming"
    ),
    "semi-informed-content": "voicenym.attack.fusion.channel_attackers:SemiInformedContent",
    "semi-informed-words": "voicenym.attack.fusion.channel_attackers:SemiInformedWords",
    "semi-informed-room": "voicenym.attack.fusion.channel_attackers:SemiInformedRoom",
    "semi-informed-fusion": "voicenym.attack.trained.trained_attackers:SemiInformedFusion",
    "semi-informed-all-channels": (
        "voicenym.attack.fusion.channel_attackers:SemiInformedAllChannels"
    ),
    "semi-informed-channels-and-searches": (
        "voicenym.attack.fusion.search_fusion:SemiInformedChannelsAndSearches"
    ),
    "semi-informed-verifier": "voicenym.attack.trained.trained_attackers:SemiInformedVerifier",
    "semi-informed-two-branch": "voicenym.attack.trained.two_branch_attacker:SemiInformedTwoBranch",
    "asv-eval-2020": "voicenym.attack.trained.asv_eval:AsvEval2020",
    "asv-eval-2022": "voicenym.attack.trained.asv_eval:AsvEval2022",
    "asv-eval-2024": "voicenym.attack.trained.asv_eval:AsvEval2024",
    "asv-eval-2026": "voicenym.attack.trained.asv_eval:AsvEval2026",
}
INVERTIBLE = "mcadams"
"""A system on which every kind of attacker can run."""
ATTACKERS: Registry[Attacker] = Registry(
    "attacker", PLACES, base=Attacker, group="voicenym.attackers"
)


def attackers(resources: Resources, *, protected: bool = True) -> list[Attacker]:
    """The attackers that can run with some resources, in their order.

    Those that compare recordings also run with normalised scores, if the resources ask for it.

    Args:
        resources: of the attackers.
        protected: whether they attack protected speech, or are measured on originals.
    """
    names = [*PLACES, *(name for name in ATTACKERS if name not in PLACES)]
    kinds = [ATTACKERS.get(name) for name in names]
    found = [
        attacker
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, Attacker) and kind.protected == protected
        for attacker in kind.available(resources)
    ]
    if resources.normalise:
        comparing = [one for one in found if isinstance(one, Comparing)]
        found += [Normalised(one) for one in comparing if _has_cohort(one, resources)]
    return found


def _has_cohort(attacker: Comparing, resources: Resources) -> bool:
    """Whether there is speech of other people to normalise an attacker's scores by."""
    if attacker.needs_original_pool:
        return resources.original_pool
    return resources.has_protected_pool


@dataclass(frozen=True)
class NotRun:
    """Attackers that a lack of resources keeps from running.

    Args:
        names: of the attackers.
        lacking: the resources, each as a clause with its cure.
    """

    names: tuple[str, ...]
    lacking: tuple[str, ...]


def not_run(resources: Resources) -> list[NotRun]:
    """Attackers without the key that would run on this system with more resources, by what they
    lack: speech of other people, a library, filters, or settings of a training.

    Left out are those that run on request alone: normalised scores, and attackers that train a
    neural verifier.
    """
    from voicenym.attack.fusion.branch_weights import FOLDS

    least = 2 * FOLDS
    here = replace(resources, normalise=False)
    more: dict[str, dict[str, Any]] = {
        "recordings": {
            "pool_recordings": max(here.pool_recordings, LEAST_FOR_STATISTICS),
        },
        "speakers": {"pool_speakers": max(here.pool_speakers, least)},
        "decoder": {"decoder": True},
        "denoisers": {"denoisers": here.denoisers or tuple(denoisers())},
        "training": {"training": here.training or AttackerTraining(Path(), 0.0)},
    }

    def names(without: str = "", **changed: Any) -> list[str]:
        given = {k: v for what, some in more.items() if what != without for k, v in some.items()}
        found = attackers(replace(here, **{**given, **changed}))
        return [one.name for one in found if not one.holds_key]

    there = {one.name for one in attackers(here)}
    missing = [name for name in names() if name not in there]
    if not missing:
        return []
    run_without = {what: set(names(what)) for what in more}
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in missing:
        lacking = [what for what in more if name not in run_without[what]]
        if not here.pool_recordings and {"recordings", "speakers"} & set(lacking):
            lacking = ["pool", *(one for one in lacking if one not in ("recordings", "speakers"))]
        people = least
        if "speakers" in lacking:
            enough = (n for n in range(2, least) if name in names(pool_speakers=n))
            people = next(enough, least)
        clauses = tuple(_lack(one, here, people) for one in lacking)
        groups.setdefault(clauses, []).append(name)
    return [NotRun(tuple(names), clauses) for clauses, names in groups.items()]


def _lack(what: str, resources: Resources, people: int) -> str:
    """A resource that is lacking, with its cure."""
    pool = "--pool" if resources.system is not None else "--anonymized-pool"
    speakers = resources.pool_speakers
    return {
        "pool": f"there is no speech of other people ({pool})",
        "recordings": f"the speech of other people is {resources.pool_recordings} recordings, and "
        f"{LEAST_FOR_STATISTICS} are needed ({pool}, --pool-size)",
        "speakers": f"the speech of other people is of {speakers} speaker"
        f"{'s' if speakers != 1 else ''}, and {people} are needed ({pool})",
        "decoder": "pocketsphinx is not installed (pip install 'voicenym[evaluate]'), "
        "without which the fusion of all channels is weaker, too",
        "denoisers": "no de-noising filters were asked for",
        "training": "attackers had no settings for a training",
    }[what]


def must_run_system() -> list[str]:
    """Names of attackers without the key that must run the system and cannot use files of its
    output.
    """
    files = Resources(anonymized_enrolment=True, anonymized_pool=True, pool_speakers=2)
    known = replace(files, system=INVERTIBLE)
    by_files = {attacker.name for attacker in attackers(files)}
    found = [attacker for attacker in attackers(known) if not attacker.holds_key]
    return [attacker.name for attacker in found if attacker.name not in by_files]


def selected(
    candidates: Sequence[Attacker], names: Sequence[str], resources: Resources | None = None
) -> list[Attacker]:
    """Attackers whose names contain one of the given words; without words, all attackers.

    Words of former names (:mod:`voicenym.attack.former_names`) select as well.

    Args:
        candidates: to select from.
        names: the words.
        resources: of the candidates; an error then says what an attacker of these names needs.

    Raises:
        VoicenymError: no attacker matches, or only those that hold the key.
    """
    if not names:
        return list(candidates)
    found = [attacker for attacker in candidates if _matches(attacker.name, names)]
    if all(attacker.holds_key for attacker in found):
        there = ", ".join(attacker.name for attacker in candidates if not attacker.holds_key)
        needs = "" if resources is None else _needs(resources, names)
        raise VoicenymError(
            needs or f"no attacker without the key is {' or '.join(names)}; there are: {there}"
        )
    return found


def _matches(attacker: str, names: Sequence[str]) -> bool:
    """Whether an attacker's name, or its former one, contains one of these words."""
    former = {today: before for before, today in FORMER.items()}
    known = f"{attacker}\n{former.get(attacker, '')}".lower()
    return any(name.lower() in known for name in names)


def _needs(resources: Resources, names: Sequence[str]) -> str:
    """What attackers of these names lack, as a message; empty if nothing would add them."""
    from voicenym.attack.fusion.branch_weights import FOLDS
    from voicenym.attack.trained.two_branch_attacker import SemiInformedTwoBranch, why_not

    people = 2 * FOLDS
    training = resources.training or AttackerTraining(Path(), 0.0)
    pool = replace(
        resources,
        pool_recordings=max(resources.pool_recordings, LEAST_FOR_STATISTICS),
        pool_speakers=max(resources.pool_speakers, people),
        anonymized_enrolment=True,
        anonymized_pool=True,
        training=training,
    )
    lacks = [] if attackers(resources) == attackers(pool) else [_pool_option(resources, people)]
    networks = replace(pool, training=replace(training, steps=1))
    for more, options in ((pool, lacks), (networks, [*lacks, "--attacker-steps"])):
        without_key = (one.name for one in attackers(more) if not one.holds_key)
        found = next((name for name in without_key if _matches(name, names)), "")
        if found:
            return f"{found} needs {' and '.join(options)}"
    if _matches(SemiInformedTwoBranch.name, names):
        return f"{SemiInformedTwoBranch.name}: {why_not(training.pretrained)}"
    return ""


def _pool_option(resources: Resources, people: int) -> str:
    """Options that give speech of so many other people."""
    speech = f"{LEAST_FOR_STATISTICS} recordings of {people} other people or more"
    if resources.system is not None:
        return f"--pool with {speech}"
    return f"--anonymized-enrolment, and --anonymized-pool with {speech}"
