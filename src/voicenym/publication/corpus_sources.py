"""What a release reads: the anonymized corpus, its log, its originals and their pairs."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_lock import RunLock
from voicenym.corpus.run_records.run_log import LOG_NAME, RunLog
from voicenym.errors import CorpusError, counted
from voicenym.special_files import refuse_named_pipe

LABELS = ("text", "sex", "age", "accent", "emotion")
"""Labels of recordings that a release may hold, each only if its publisher names it."""
NAMES = "names"
"""Names of speakers and recordings that are those of the originals, if its publisher keeps them."""


def root_of(corpus: Path) -> Path:
    """Folder of a corpus, which may be named by its manifest."""
    return corpus if corpus.is_dir() else corpus.parent


def corpus_recordings(corpus: Path, keep: Collection[str], level: int | None) -> list[Recording]:
    """Recordings of an anonymized corpus, without the labels that ``keep`` does not name.

    Raises:
        CorpusError: no recording has one of these labels.
    """
    dropped = {label: "" for label in LABELS if label not in keep}
    found = recordings(corpus, level=level)
    for label in keep:
        if label != NAMES and not any(getattr(one, label) for one in found):
            raise CorpusError(
                f"--keep {label}: no recording of {corpus} has it; a transcript lies in a .txt "
                "beside its recording, other labels in columns of a manifest.tsv there; anonymize "
                "a data folder with --keep text, which copies its text; or leave it out"
            )
    return [replace(one, corpus="", **dropped) for one in found]  # type: ignore[arg-type]


def log_lines(corpus: Path) -> dict[Path, Line]:
    """Lines of the corpus's log by the resolved paths of outputs; empty without a log.

    Raises:
        CorpusError: a run works in the folder, or its log cannot be read.
    """
    root = root_of(corpus)
    if RunLock(root).holder() is not None:
        raise CorpusError(
            f"{root}: a run works in this folder, so that the corpus is not complete; wait until "
            f"it ends (voicenym status {root})"
        )
    log = RunLog(root / LOG_NAME)
    log.read()
    return {(root / name).resolve(): line for name, line in log.lines.items()}


def incomplete(
    lines: Mapping[Path, Line], found: Sequence[Recording], originals: int | None
) -> list[str]:
    """Sentences on recordings that the corpus lacks, for its publisher.

    Args:
        lines: of the log.
        found: recordings of the corpus.
        originals: number of recordings of the originals; None if it is not known.
    """
    failed = sum("error" in line for line in lines.values())
    there = {one.path.resolve() for one in found}
    gone = sum(
        "sha256" in line and path not in there and not ("recordings" in line and path.is_file())
        for path, line in lines.items()  # the recordings of a shard have other paths
    )
    notes = []
    if failed:
        lost = counted(
            failed, "recording failed in the run and is", "recordings failed in the run and are"
        )
        notes.append(f"{lost} not in the corpus")
    if gone:
        notes.append(
            f"{counted(gone, 'output of the log is', 'outputs of the log are')} not in the "
            "corpus any more"
        )
    if originals is not None and originals > len(found):
        notes.append(f"{originals - len(found):,} of {originals:,} originals are not in the corpus")
    return notes


def originals_of(
    found: Sequence[Recording], original: Path | None, mapping: Path | None, level: int | None
) -> tuple[dict[str, Recording], int | None]:
    """Original of each recording by its name, and the number of originals; empty and None without
    ``original`` and ``mapping``.

    Args:
        found: recordings of the anonymized corpus.
        original: corpus of the same names.
        mapping: file of ``voicenym anonymize --mapping``.
        level: which folder names the speaker.

    Raises:
        CorpusError: recordings have no original.
    """
    if mapping is not None:
        inputs, relative = _mapped(mapping)
        pairs = {
            one.name: Recording(one.name, *inputs[one.path.resolve()])
            for one in found
            if one.path.resolve() in inputs
        }
        whole = len(pairs) == len(found) and all(one.path.is_file() for one in pairs.values())
        if relative and not whole:
            raise CorpusError(
                f"{mapping}: names files by paths that were relative to the folder in which "
                "voicenym anonymize ran, and not all of them are found from here; run voicenym "
                "release in that folder"
            )
        where, count = str(mapping), len(inputs)
    elif original is not None:
        there = {one.name: one for one in recordings(original, level=level)}
        pairs = {one.name: there[one.name] for one in found if one.name in there}
        where, count = str(original), len(there)
    else:
        return {}, None
    missing = [one.name for one in found if one.name not in pairs]
    if missing and mapping is not None:
        written = os.path.commonpath(inputs) if inputs else "no folder"
        raise CorpusError(
            f"{mapping}: names no original of {missing[0]} ({len(missing)} of {len(found)} such), "
            f"but those of outputs in {written}; give the mapping of the run that wrote this "
            "corpus, and if you moved the corpus since, move it back"
        )
    if missing:
        raise CorpusError(
            f"{where}: holds no original of {missing[0]} ({len(missing)} of {len(found)} such); "
            "give the originals of the whole corpus, and --mapping where names were drawn"
        )
    return pairs, count


def _mapped(path: Path) -> tuple[dict[Path, tuple[str, Path]], bool]:
    """Speaker and original of each output; and whether paths are relative, of earlier versions."""
    refuse_named_pipe(path)
    try:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        found = {
            Path(line["output"]): (str(line.get("speaker", "")), Path(line["input"]))
            for line in lines
        }
    except FileNotFoundError:
        raise CorpusError(f"{path}: does not exist; check the name") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CorpusError(f"{path}: is no file of voicenym anonymize --mapping") from None
    relative = any(not (o.is_absolute() and i.is_absolute()) for o, (_, i) in found.items())
    return {output.resolve(): original for output, original in found.items()}, relative


def check_names(
    found: Sequence[Recording],
    originals: Mapping[str, Recording],
    lines: Mapping[Path, Line],
    keep: Collection[str],
    mapped: bool,
) -> str:
    """How names relate to those of the originals, in a sentence for the card.

    Without drawn names in the log they count as those of the originals: tables keep the ids of
    speakers and utterances, which no file name of an original shows.

    Args:
        found: recordings of the corpus.
        originals: by name.
        lines: of the log.
        keep: what the publisher keeps.
        mapped: whether a mapping names the originals, and not equal names.

    Raises:
        CorpusError: they are those of the originals, or nothing shows that they are not, and
            ``keep`` does not hold ``names``.
    """
    drawn = bool(lines) and all(line.get("renamed") is True for line in lines.values())
    same = {one.name for one in found} if lines and not drawn else set()
    for one in found:
        original = originals.get(one.name)
        if original is not None and (
            not mapped or original.path.stem == one.path.stem or original.speaker == one.speaker
        ):
            same.add(one.name)
    if not same:
        if originals or lines:
            return "Names of speakers and files are not those of the originals."
        return "Whether names of speakers and files are those of the originals was not checked."
    if NAMES not in keep:
        there = counted(
            len(same), "recording has the name of its original",
            "recordings have the names of their originals",
        )  # fmt: skip
        raise CorpusError(
            f"{min(same)}: {there}, or no log shows that their names were drawn; by such names "
            "anybody who has the originals finds the speaker: anonymize into a new folder with "
            "--rename, or say --keep names"
        )
    return (
        "Names of speakers and files are those of the originals: whoever has the originals, or a "
        "list of them, knows who speaks."
    )
