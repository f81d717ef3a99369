"""What a later comparison needs of an evaluation: scores by trial, and word errors by speaker.

Two reports on the same people can then be compared pair by pair, without their recordings.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from voicenym.errors import VoicenymError
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.results import Evaluation
from voicenym.metrics.bootstrap_draws import Drawn, equal_error, share
from voicenym.metrics.scores import Speakers
from voicenym.private import open_private, private_folder, replacing

SCORES = "scores.npz"
"""Beside ``results.json``."""
FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """Of the strongest attacker on each system, what its figures came from.

    Args:
        pairs: ``[trial, 2]``, speakers of the enrolment and of the trial, by name.
        scores: ``[trial]`` by system.
        cells: ``[recording, 2]`` by system, word errors and words; the speaker of each is in
            ``heard``.
        heard: ``[recording]``, speakers, by system.
    """

    pairs: np.ndarray
    scores: Mapping[str, np.ndarray]
    cells: Mapping[str, np.ndarray] = field(default_factory=dict)
    heard: Mapping[str, np.ndarray] = field(default_factory=dict)

    def eer(self, system: str) -> Drawn | None:
        """The equal error rate, to be drawn together with that of others."""
        scores = self.scores.get(system)
        if scores is None:
            return None
        same = self.pairs[:, 0] == self.pairs[:, 1]
        who = Speakers(self.pairs[same], self.pairs[~same])
        return equal_error(scores[same], scores[~same], who)

    def wer(self, system: str) -> Drawn | None:
        """The word error rate, likewise."""
        cells = self.cells.get(system)
        return (
            None if cells is None else share(cells[:, 0], cells[:, 1], self.heard[system].tolist())
        )


def keep(evaluation: Evaluation, evidence: Evidence, folder: Path) -> Path:
    """Write what :func:`load` reads.

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
        "pairs": np.stack([enrolled[model], tried[column]], axis=1),
    }
    for number, system in enumerate(evaluation.systems):
        arrays[f"system {number}"] = np.array(system.name)
        if any(not attack.holds_key for attack in system.attacks):
            top = system.strongest
            scores = evidence.scores.get(system.name, {}).get(f"{top.attacker}, {top.verifier}")
            if scores is not None:
                arrays[f"scores {number}"] = scores[model, column]
        cells = evidence.words.get(system.name)
        if cells is not None:
            arrays[f"words {number}"] = np.array([cells.above, cells.below]).T
            arrays[f"heard {number}"] = np.array(cells.speakers)
    private_folder(folder)
    path = folder / SCORES
    with replacing(path) as partial, open_private(partial, "xb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return path


def load(folder: Path) -> Kept | None:
    """What was kept of a report; None where nothing was.

    Args:
        folder: of the report, or its ``results.json``.

    Raises:
        VoicenymError: a file that cannot be understood.
    """
    path = (folder if folder.is_dir() else folder.parent) / SCORES
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        if int(arrays["format"]) != FORMAT:
            raise VoicenymError(f"{path}: of another release of voicenym; evaluate again")
        return Kept(arrays["pairs"], *_by_system(arrays, ("scores", "words", "heard")))
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise VoicenymError(f"{path}: is no scores of voicenym evaluate ({error!r})") from None


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
