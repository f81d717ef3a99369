"""Enrolment and trial lists in Kaldi data folders, in the layouts of the VoicePrivacy Challenges:

``libri_dev_enrolls/enrolls`` and ``libri_dev_trials_f/trials`` in folders of their own, or
``libri_dev/enrolls``, ``libri_dev/trials_f`` and ``libri_dev/trials_m`` in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.readers.kaldi_recordings import data_folders
from voicenym.corpus.readers.kaldi_utterances import is_kaldi
from voicenym.corpus.readers.letter_forms import both_forms
from voicenym.errors import CorpusError
from voicenym.evaluation.trial_plans.challenge_lists import enrolled_names, trial_rows

_ENROLMENT = re.compile(r"enrolls(_[A-Za-z0-9]+)*(\.txt)?")
_TRIALS = re.compile(r"trials(_[A-Za-z0-9]+)*(\.txt)?")
_FOLDER = re.compile(r"((?:libri|vctk)_(?:dev|test))_(enrolls|trials_[fm](?:_common)?)")


@dataclass(frozen=True)
class Lists:
    """Lists of a corpus.

    Args:
        enrolment, trials: files.
        repeated: trial lists that only repeat rows of others, such as ``*_trials_all``.
    """

    enrolment: tuple[Path, ...]
    trials: tuple[Path, ...]
    repeated: tuple[Path, ...] = ()

    def names(self) -> set[str]:
        """Names of all utterances of the lists, in both forms of letters with accents.

        Raises:
            CorpusError: an invalid line.
        """
        found = {name for path in self.enrolment for name in enrolled_names(path)}
        found |= {name for path in self.trials for _, name, _ in trial_rows(path)}
        return both_forms(found)


def find_lists(source: Path, *, without: str = "") -> Lists | None:
    """Lists in a data folder or in the data folders directly below a folder.

    Args:
        source: of a corpus.
        without: suffix of folders that are left out, those of anonymized speech.

    Returns:
        None if there are no lists, or only one kind of them.

    Raises:
        CorpusError: an invalid line.
    """
    if not source.is_dir():
        return None
    folders = [source] if is_kaldi(source) else data_folders(source, without=without)
    files = [path for folder in folders for path in sorted(folder.iterdir()) if path.is_file()]
    enrolment = _distinct([path for path in files if _ENROLMENT.fullmatch(path.name)])
    trials, repeated = _without_repetition([p for p in files if _TRIALS.fullmatch(p.name)])
    if not enrolment or not trials:
        return None
    return Lists(tuple(enrolment), tuple(trials), tuple(repeated))


def check_challenge(data: Path) -> None:
    """Refuses the data of a VoicePrivacy Challenge if a folder of it has no audio or no list.

    Such a folder would be left out, and the weighted means would be of the others.

    Args:
        data: holds folders such as ``libri_dev_trials_f``. The lists of a test set may lie in a
            folder of its own, such as ``libri_dev/trials_f``.

    Raises:
        CorpusError: it names the folder.
    """
    for folder in sorted(place for place in data.iterdir() if place.is_dir()):
        found = _FOLDER.fullmatch(folder.name)
        if found is None:
            continue
        subset, kind = found.groups()
        enrolment = kind == "enrolls"
        form, read = (_ENROLMENT, enrolled_names) if enrolment else (_TRIALS, trial_rows)
        places = [path for path in sorted(folder.iterdir()) if form.fullmatch(path.name)]
        places += [data / subset / f"{kind}{ending}" for ending in ("", ".txt")]
        name = "enrolls" if enrolment else "trials"
        if not any(path.is_file() and read(path) for path in places):
            raise CorpusError(
                f"{folder}: has no list {name}, or an empty one, so that the means would be of the "
                f"other folders; get {name} from the challenge's data, or take the folder away"
            )
        if not is_kaldi(folder):
            raise CorpusError(
                f"{folder}: has no wav.scp; write one, as a Kaldi data folder has it, or take the "
                "folder away"
            )


def _distinct(paths: list[Path]) -> list[Path]:
    """Enrolment lists without duplicates: a test set's folder and its parts may hold the same
    one.
    """
    found: dict[frozenset[str], Path] = {}
    for path in paths:
        names = frozenset(enrolled_names(path))
        if names:
            found.setdefault(names, path)
    return list(found.values())


def _without_repetition(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """Trial lists, and lists whose rows all occur in smaller ones: unions and copies."""
    rows = {path: set(trial_rows(path)) for path in paths}
    seen: set[tuple[str, str, str]] = set()
    kept, repeated = set(), []
    for path in sorted(paths, key=lambda path: len(rows[path])):
        if rows[path] <= seen:
            repeated.append(path)
            continue
        kept.add(path)
        seen |= rows[path]
    return [path for path in paths if path in kept], repeated
