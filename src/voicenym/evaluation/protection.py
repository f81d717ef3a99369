"""Attacks on a system, and what they reach."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.attack.attackers import Attacker, Comparing, Ignorant, LazyInformed, Unprotected
from voicenym.attack.embedder import Embedder
from voicenym.attack.scenario import Case
from voicenym.attack.transforms import ORIGINAL, Transform
from voicenym.errors import ScoreError
from voicenym.evaluation.results import AttackFigures, Exposed, Lesson, Measured
from voicenym.evaluation.trials import Trials
from voicenym.metrics import (
    Speakers,
    eer,
    linkability,
    min_cllr,
    miss_match_rate,
    rocch_eer,
    weighted_eer,
    wrong_match_rate,
    zebra,
)
from voicenym.verification.scoring import Backend
from voicenym.verification.verifier import Verifier
from voicenym.verification.voice_statistics import VoiceStatistics

WEIGHTED = "weighted EER"
NO_THRESHOLDS: Mapping[str, float] = {}


@dataclass(frozen=True)
class Attacked:
    """An attack's figures, its scores ``[model, trial]`` for drawing, and the EER's threshold."""

    figures: AttackFigures
    scores: np.ndarray
    threshold: float


def attack(
    attackers: Sequence[Attacker],
    case: Case,
    trials: Trials,
    verifier: Verifier,
    embedder: Embedder,
    *,
    replicates: int,
    thresholds: Mapping[str, float] = NO_THRESHOLDS,
    say: Callable[[str], None] = lambda text: None,
) -> list[Attacked]:
    """Run attackers with one verifier.

    Args:
        attackers: run in order.
        case: what is attacked.
        trials: which pairs count.
        verifier: for vectors.
        embedder: computes or remembers them.
        replicates: of the bootstrap over speakers.
        thresholds: of equal errors on original speech, by the name of the attacker there.
        say: told what is being done.
    """
    found = []
    for attacker in attackers:
        what = case.protection.system or (
            "files" if case.protection.transform.steps else "original"
        )
        heard = attacker.hears(verifier)
        say(f"{what}: {attacker.name}, {heard}")
        scores = attacker.scores(case, verifier, embedder)
        kept = thresholds.get(attacker.reference)
        one = measured(attacker, scores, trials, heard, replicates, kept)
        lessons = tuple(
            Lesson(int(row["step"]), row["seconds"], row["EER %"])
            for row in attacker.learning(case)
        )
        figures = dataclasses.replace(one.figures, learning=lessons)
        found.append(dataclasses.replace(one, figures=figures))
    return found


def trivial(
    case: Case,
    trials: Trials,
    verifier: VoiceStatistics,
    embedder: Embedder,
    *,
    replicates: int,
    thresholds: Mapping[str, float] = NO_THRESHOLDS,
) -> list[Attacked]:
    """The attackers that every other must beat: pitch and formant statistics, trained on the pool.

    Args:
        verifier: of voice statistics.
        case, trials, embedder, replicates, thresholds: as for :func:`attack`.
    """
    found = []
    speakers = [recording.speaker for recording in case.pool]
    # Each trains on what it knows of: the ignorant on originals, the informed on its own output.
    attackers: list[tuple[Comparing, Transform]]
    attackers = [(Ignorant() if case.protection.transform.steps else Unprotected(), ORIGINAL)]
    if case.protection.system is not None:
        attackers.append((LazyInformed(), case.protection.with_key(case.key, "utterance")))
    for attacker, transform in attackers:
        backend: Backend = verifier
        if len(speakers) > len(set(speakers)) > 1:  # what varies within a speaker needs two
            vectors, heard = embedder.kept(verifier, case.pool, transform)
            backend = verifier.adapted(vectors, [recording.speaker for recording in heard])
        scores = attacker.scores(case, verifier, embedder, backend)
        # who trained on anonymized speech has scores of another scale than on originals
        kept = None if transform.steps else thresholds.get(attacker.reference)
        found.append(measured(attacker, scores, trials, verifier.name, replicates, kept))
    return found


def measured(
    attacker: Attacker,
    scores: np.ndarray,
    trials: Trials,
    verifier: str,
    replicates: int,
    threshold: float | None = None,
) -> Attacked:
    """Figures of one attacker's scores ``[model, trial]``, and these.

    Args:
        attacker: whose they are.
        scores: higher for the same speaker.
        trials: which of them count.
        verifier: its name.
        replicates: of the bootstrap over speakers.
        threshold: fixed on original speech, for MMR and WMR; None leaves them out.

    Raises:
        ScoreError: a score that counts is NaN; it names the trial.
    """
    bad = np.argwhere(np.isnan(scores) & trials.tested)
    if len(bad):
        model, trial = bad[0]
        raise ScoreError(
            f"{attacker.name}, {verifier}: the score of {trials.models[model].name} and "
            f"{trials.recordings[trial].name} is NaN ({len(bad)} such); leave out the recording"
        )
    target, nontarget, speakers = split(scores, trials)
    drawn: dict[str, Any] = {"replicates": replicates}
    options: dict[str, Any] = {"speakers": speakers, **drawn}
    equal = eer(target, nontarget, **options)
    hull = rocch_eer(target, nontarget, **options)
    calibrated = min_cllr(target, nontarget, **options)
    disclosed = zebra(target, nontarget, **options)
    linked = linkability(target, nontarget, **options)
    figures = {
        "EER": Measured(100 * equal.value, *_percent(equal.interval), "%"),
        "ROCCH-EER": Measured(100 * hull.value, *_percent(hull.interval), "%"),
        "min C_llr": Measured(calibrated.value, *calibrated.interval, "bit"),
        "D_ECE": Measured(disclosed.expected, *disclosed.expected_interval, "bit"),
        "worst case": Measured(disclosed.worst_case, *disclosed.worst_case_interval, "log10 l"),
        "D_sys": Measured(linked.value, *linked.interval, ""),
    }
    if threshold is not None:
        for name, rate in (
            ("MMR", miss_match_rate(target, threshold, speakers=speakers.target, **drawn)),
            ("WMR", wrong_match_rate(nontarget, threshold, speakers=speakers.nontarget, **drawn)),
        ):
            figures[name] = Measured(100 * rate.value, *_percent(rate.interval), "%")
    for sex in ("f", "m"):
        rows = np.array([model.sex == sex for model in trials.models])
        part = Trials(trials.models, trials.recordings, trials.tested & rows[:, None])
        if rows.any() and not rows.all() and part.target.any() and part.nontarget.any():
            t, n, who = split(scores, part)
            value = eer(t, n, who, replicates=replicates)
            figures[f"EER {sex}"] = Measured(100 * value.value, *_percent(value.interval), "%")
    figures.update(_by_part(scores, trials, replicates))
    return Attacked(
        AttackFigures(
            attacker.name,
            attacker.knows,
            verifier,
            figures,
            disclosed.tag,
            target.size,
            nontarget.size,
            attacker.holds_key,
            attacker.informed,
        ),
        scores,
        equal.threshold,
    )


def _by_part(scores: np.ndarray, trials: Trials, replicates: int) -> dict[str, Measured]:
    """The rate of each part of a benchmark, and their weighted mean."""
    if not trials.parts:
        return {}
    parts = [
        split(scores, Trials(trials.models, trials.recordings, part.tested))
        for part in trials.parts
    ]
    mean = weighted_eer(parts, [part.weight for part in trials.parts], replicates=replicates)
    figures = {WEIGHTED: Measured(100 * mean.value, *_percent(mean.interval), "%")}
    for part, (target, nontarget, speakers) in zip(trials.parts, parts, strict=True):
        value = eer(target, nontarget, speakers, replicates=replicates)
        figures[f"EER {part.name}"] = Measured(100 * value.value, *_percent(value.interval), "%")
    return figures


def split(scores: np.ndarray, trials: Trials) -> tuple[np.ndarray, np.ndarray, Speakers]:
    """Scores ``[model, trial]`` as target and non-target scores and their speakers."""
    names = sorted({m.speaker for m in trials.models} | {r.speaker for r in trials.recordings})
    number = {name: i for i, name in enumerate(names)}
    rows = np.array([number[m.speaker] for m in trials.models])
    columns = np.array([number[r.speaker] for r in trials.recordings])
    pairs = np.stack(np.broadcast_arrays(rows[:, None], columns[None]), axis=-1)
    target, nontarget = trials.target, trials.nontarget
    return scores[target], scores[nontarget], Speakers(pairs[target], pairs[nontarget])


def exposed(scores: np.ndarray, trials: Trials) -> tuple[Exposed, ...]:
    """Speakers by how well an attacker finds them, the least protected first."""
    found: dict[str, list[tuple[float, float]]] = {}
    for column, recording in enumerate(trials.recordings):
        own = scores[trials.target[:, column], column]
        others = scores[trials.nontarget[:, column], column]
        if own.size and others.size:
            best = own.max()
            result = (float(np.all(best > others)), float(np.mean(others >= best)))
            found.setdefault(recording.speaker, []).append(result)
    speakers = [
        Exposed(speaker, *(float(v) for v in np.mean(values, axis=0)))
        for speaker, values in found.items()
    ]
    return tuple(sorted(speakers, key=lambda e: (e.rank, -e.found, e.speaker)))


def _percent(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]
