"""Scores by trial and word errors by recording, saved beside a report for later comparisons.

They allow a paired comparison of two reports on the same speakers without the recordings.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.results import Evaluation
from voicenym.evaluation.results_file import RESULTS
from voicenym.metrics.intervals.bootstrap_draws import Drawn
from voicenym.metrics.metric import Metric
from voicenym.metrics.metric_inputs import RecognisedWords, Tally, TrialScores
from voicenym.metrics.trials.scores import Speakers
from voicenym.private import open_private, private_folder, replacing

SCORES = "scores.npz"
"""Name of the file, beside ``results.json``."""
FORMAT = 1


@dataclass(frozen=True)
class SavedScores:
    """Scores of the strongest attacker on each system, and its word errors.

    Args:
        pairs: ``[trial, 2]``, speakers of the enrolment and of the trial, by name.
        scores: ``[trial]`` by system.
        words: ``[recording, 2]`` by system, word errors and words.
        speakers: ``[recording]`` by system, the speaker of each row of ``words``.
    """

    pairs: np.ndarray
    scores: Mapping[str, np.ndarray]
    words: Mapping[str, np.ndarray] = field(default_factory=dict)
    speakers: Mapping[str, np.ndarray] = field(default_factory=dict)

    def drawn(self, metric: Metric[Any], system: str) -> Drawn | None:
        """A metric's value as a function of drawn speakers; None without saved scores."""
        if metric.redraw is None:
            return None
        data: TrialScores | Tally | None = None
        if metric.data is TrialScores:
            data = self._trials(system)
        elif metric.data is RecognisedWords:
            data = self._tally(system)
        return None if data is None else metric.redraw(data)

    def _trials(self, system: str) -> TrialScores | None:
        scores = self.scores.get(system)
        if scores is None:
            return None
        same = self.pairs[:, 0] == self.pairs[:, 1]
        who = Speakers(self.pairs[same], self.pairs[~same])
        return TrialScores(scores[same], scores[~same], who)

    def _tally(self, system: str) -> Tally | None:
        counts = self.words.get(system)
        if counts is None:
            return None
        speakers = tuple(self.speakers[system].tolist())
        return Tally(counts[:, 0], counts[:, 1], tuple("" for _ in speakers), speakers)


def save(evaluation: Evaluation, evidence: Evidence, folder: Path) -> Path:
    """Writes the file that :func:`load` reads, with the digest of the results beside it.

    Args:
        evaluation: names the strongest attackers.
        evidence: has their scores.
        folder: of the report.
    """
    trials = evidence.trials
    model, column = np.nonzero(trials.tested)
    enrolled = np.array([m.speaker for m in trials.models])
    tried = np.array([r.speaker for r in trials.recordings])
    arrays = {
        "format": np.array(FORMAT),
        "results": np.array(_digest(folder)),
        "pairs": np.stack([enrolled[model], tried[column]], axis=1),
    }
    for number, system in enumerate(evaluation.systems):
        arrays[f"system {number}"] = np.array(system.name)
        if system.attacked:
            top = system.strongest
            scores = evidence.scores.get(system.name, {}).get(f"{top.attacker}, {top.verifier}")
            if scores is not None:
                arrays[f"scores {number}"] = scores[model, column]
        tally = evidence.words.get(system.name)
        if tally is not None:
            arrays[f"words {number}"] = np.array([tally.above, tally.below]).T
            arrays[f"heard {number}"] = np.array(tally.speakers)
    private_folder(folder)
    path = folder / SCORES
    with replacing(path) as partial, open_private(partial, "xb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return path


def load(folder: Path) -> SavedScores | None:
    """Saved scores of a report; None without any.

    Args:
        folder: of the report, or its ``results.json``.

    Raises:
        VoicenymError: an invalid file, or one of other results than those beside it: a run ended
            between the two.
    """
    path = (folder if folder.is_dir() else folder.parent) / SCORES
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        if int(arrays["format"]) != FORMAT:
            raise VoicenymError(f"{path}: of another release of voicenym; evaluate again")
        if str(arrays.get("results", "")) not in ("", _digest(path.parent)):
            raise VoicenymError(
                f"{path}: its scores are of other results than {RESULTS} beside it; evaluate "
                "again, or take it away to compare without scores"
            )
        found = SavedScores(arrays["pairs"], *_by_system(arrays, ("scores", "words", "heard")))
        _check(found)
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise VoicenymError(
            f"{path}: holds no scores of voicenym evaluate ({error!r}); evaluate again, or take it "
            "away to compare without scores"
        ) from None
    return found


def _digest(folder: Path) -> str:
    """SHA-256 of the results of a report; empty without any."""
    path = folder / RESULTS
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _check(found: SavedScores) -> None:
    """Refuses arrays that do not belong together.

    Raises:
        ValueError: of another shape or type, or scores that are NaN.
    """
    if found.pairs.ndim != 2 or found.pairs.shape[1] != 2:
        raise ValueError(f"pairs of shape {found.pairs.shape}")
    for system, scores in found.scores.items():
        if scores.shape != found.pairs.shape[:1] or scores.dtype.kind != "f":
            raise ValueError(f"{system}: {scores.dtype} scores of shape {scores.shape}")
        if np.isnan(scores).any():
            raise ValueError(f"{system}: scores that are NaN")
    for system, words in found.words.items():
        if words.shape != (*found.speakers[system].shape, 2) or words.dtype.kind not in "fiu":
            raise ValueError(f"{system}: {words.dtype} words of shape {words.shape}")


def _by_system(
    arrays: Mapping[str, np.ndarray], kinds: Iterable[str]
) -> list[dict[str, np.ndarray]]:
    """``kind number`` by the names of ``system number``."""
    names = {key.split()[1]: str(name) for key, name in arrays.items() if key.startswith("system ")}
    return [
        {
            name: arrays[f"{kind} {number}"]
            for number, name in names.items()
            if f"{kind} {number}" in arrays
        }
        for kind in kinds
    ]
