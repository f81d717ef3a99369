"""Anonymized files of another program, matched with the original recordings by name.

Folders follow the VoicePrivacy Challenges: ``libri_dev_enrolls`` and ``libri_dev_trials_f`` hold
enrolment and trials, ``train-clean-360`` the speech that attackers train on, each with a suffix
where it is anonymized (``libri_dev_enrolls_mcadams``).
"""

from __future__ import annotations

import filecmp
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.readers.folder_walk import walk
from voicenym.corpus.readers.kaldi_recordings import data_folders, kaldi_recordings
from voicenym.corpus.readers.kaldi_utterances import is_kaldi, read_utterances
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import FILES, recordings, shards_in
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import CorpusError

ENROLMENT, TRIALS, TRAINING = "_enrolls", "_trials", "train"
"""Parts or prefixes of the names of the challenges' folders."""
MOST_NAMED = 5
"""Names in a message at most."""


@dataclass(frozen=True)
class Submission:
    """Data folders of anonymized speech by their purpose.

    Args:
        enrolment: under the attackers' keys.
        trials: under the user's keys.
        training: speech of other people under the attackers' keys.
    """

    enrolment: tuple[Path, ...] = ()
    trials: tuple[Path, ...] = ()
    training: tuple[Path, ...] = ()


def submission(root: Path, suffix: str = "") -> Submission:
    """Folders of a submission to a VoicePrivacy Challenge below a folder; none elsewhere.

    Args:
        root: holds data folders.
        suffix: at the end of the folders' names.

    Raises:
        CorpusError: no folder has the suffix.
    """
    folders = [folder for folder in data_folders(root) if folder.name.endswith(suffix)]
    if suffix and not folders:
        raise CorpusError(
            f"{root}: no Kaldi data folder in it has a name that ends in {suffix}; check the "
            "suffix, or the folder"
        )
    names = {folder: folder.name.removesuffix(suffix) for folder in folders}
    return Submission(
        tuple(folder for folder in folders if ENROLMENT in names[folder]),
        tuple(folder for folder in folders if TRIALS in names[folder]),
        tuple(folder for folder in folders if names[folder].startswith(TRAINING)),
    )


def labelled(
    places: Sequence[Path],
    left_out: LeftOut = STRICT,
    *,
    level: int | None = None,
    allow_pipes: bool = False,
) -> list[Recording]:
    """Anonymized recordings with the speakers of their own tables or folders.

    Args:
        places: folders of speakers, Kaldi data folders, folders of such, or manifests.
        left_out, level, allow_pipes: as of :func:`voicenym.corpus.recordings.recordings`.

    Raises:
        CorpusError: as of that function; a name that occurs in two places.
    """
    found: dict[str, Recording] = {}
    for place in places:
        for one in recordings(place, None, None, left_out, level=level, allow_pipes=allow_pipes):
            if found.setdefault(one.name, one) != one:
                raise CorpusError(
                    f"{place}: {one.name} is another file in an earlier folder; give each "
                    "recording once"
                )
    return list(found.values())


def matched(
    speech: Sequence[Recording],
    anonymized: Path | Sequence[Path],
    left_out: LeftOut = STRICT,
    *,
    allow_pipes: bool = False,
    cure: str = "anonymize it",
    few: bool = False,
) -> dict[str, Path | Recording]:
    """Anonymized files by the names of the originals, also where an accent has another form.

    Args:
        speech: original recordings.
        anonymized: folders of the same layout, Kaldi data folders, or folders in which files have
            the utterances' names.
        left_out: receives recordings that have no anonymized file; the default raises.
        allow_pipes: as of :func:`voicenym.corpus.recordings.recordings`.
        cure: what to do about a recording without a file.
        few: whether recordings without a file are accepted if at least one has a file.

    Raises:
        CorpusError: files are missing (the message names all of them, or the first one), or two
            files may be that of a recording.
    """
    places = [anonymized] if isinstance(anonymized, Path) else list(anonymized)
    found: dict[str, Path | Recording] = {}
    names = {recording.name for recording in speech}
    for place in places:
        files = _files(place, names, allow_pipes)
        for name in sorted(names & files.keys() & found.keys()):
            if not _are_one(found[name], files[name]):
                raise _ambiguous(place, name, found[name], files[name])
        found.update(files)
    found.update(_in_other_form(names - found.keys(), found, ", ".join(map(str, places))))
    missing = [recording.name for recording in speech if recording.name not in found]
    where = ", ".join(map(str, places))
    if missing and (len(missing) == len(speech) or (left_out.fail_fast and not few)):
        there = sorted(set(found) - {recording.name for recording in speech})
        other = f"; its files are named like {there[0]}" if there else ""
        some = f"{len(missing)} of {len(speech)} recordings have"
        without = some if len(speech) > 1 else "the only recording has"
        raise CorpusError(
            f"{where}: {without} no anonymized file: "
            + ", ".join(missing[:MOST_NAMED])
            + (", ..." if len(missing) > MOST_NAMED else "")
            + other
            + f"; {cure}, and name files as the originals"
        )
    for name in [] if few else missing:
        left_out.add(name, f"{where}: holds no anonymized file of it; {cure}", FILES)
    return {r.name: found[r.name] for r in speech if r.name in found}


def _in_other_form(
    names: Iterable[str], files: Mapping[str, Path | Recording], where: str
) -> dict[str, Path | Recording]:
    """Files of names whose letters have other code points, by these names.

    An accent is a part of its letter (NFC) or a character of its own (NFD); macOS and archives
    made there have the second form, and both look alike.

    Args:
        names: without a file of exactly this name.
        files: by their own names.
        where: the places, for messages.

    Raises:
        CorpusError: two files may be that of one of the names.
    """
    composed: dict[str, list[Path | Recording]] = {}
    for name, file in files.items():
        composed.setdefault(unicodedata.normalize("NFC", name), []).append(file)
    found = {}
    for name in sorted(names):
        first, *others = composed.get(unicodedata.normalize("NFC", name), [None])
        for other in others:
            if first is not None and other is not None and not _are_one(first, other):
                raise _ambiguous(where, name, first, other)
        if first is not None:
            found[name] = first
    return found


def _files(place: Path, names: set[str], allow_pipes: bool) -> dict[str, Path | Recording]:
    """Files of a place by name; of Kaldi folders only those of the given names, if any are."""
    if shards_in(place) is not None:
        shards = recordings(place, left_out=LeftOut())  # the caller reports missing files
        return {one.name: one for one in shards}
    if not place.is_dir():
        raise CorpusError(f"{place}: no such folder; give the folder of anonymized files")
    folders = [place] if is_kaldi(place) else data_folders(place)
    if folders:
        every = {one.name: folder for folder in folders for one in read_utterances(folder)}
        wanted = names & every.keys() or every.keys()
        kept: dict[str, Path | Recording] = {}
        for folder in folders:
            for one in kaldi_recordings(folder, allow_pipes=allow_pipes, only=wanted):
                if not one.command and not one.path.is_file():
                    continue
                other = kept.setdefault(one.name, one)
                if isinstance(other, Recording) and other.path != one.path:
                    raise CorpusError(
                        f"{place}: {one.name} is {other.path} in one data folder and {one.path} in "
                        "another; give the folder that is meant"
                    )
        return kept
    if (place / "manifest.tsv").is_file():
        there = recordings(place, left_out=LeftOut())  # the caller reports missing files
        return {recording.name: recording for recording in there}
    return _by_path(place, names)


def _by_path(place: Path, names: set[str]) -> dict[str, Path | Recording]:
    """Files below a folder: by their paths without the extension, else by their own names.

    Raises:
        CorpusError: two files may be that of one of the names.
    """
    by_path: dict[str, list[Path]] = {}
    by_stem: dict[str, list[Path]] = {}
    for path in walk(place, links=True).recordings:
        by_path.setdefault(path.relative_to(place).with_suffix("").as_posix(), []).append(path)
        by_stem.setdefault(path.stem, []).append(path)
    every = by_stem | by_path
    for name in sorted(names & every.keys()):
        first, *others = every[name]
        for other in others:
            if not _are_one(first, other):
                raise _ambiguous(place, name, first, other)
    return {name: paths[0] for name, paths in every.items()}


def _are_one(one: Path | Recording, other: Path | Recording) -> bool:
    """Whether two files are the same recording: of one place, or of the same bytes."""
    first, second = _recording(one), _recording(other)
    if first.command or second.command or (first.start, first.end) != (second.start, second.end):
        return one == other
    try:
        return first.path == second.path or filecmp.cmp(first.path, second.path, shallow=False)
    except OSError:  # which is reported when it is read
        return False


def _ambiguous(
    place: Path | str, name: str, one: Path | Recording, other: Path | Recording
) -> CorpusError:
    return CorpusError(
        f"{place}: {name} may be {_recording(one).place} or {_recording(other).place}, which "
        "differ; give the folder of one system, with one file of each recording"
    )


def _recording(file: Path | Recording) -> Recording:
    return file if isinstance(file, Recording) else Recording("", "", file)
