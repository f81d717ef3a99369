"""Release of a corpus: verification, then a folder to publish, written whole or not at all."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import voicenym
from voicenym.audio.atomic import sweep, temporary_folder, write_failed
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.nearness.stored_nearness import SAME_SECONDS
from voicenym.corpus.plans import timestamps
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.shards import shard_plan
from voicenym.errors import CorpusError, counted
from voicenym.publication import (
    claim_meter,
    corpus_sources,
    croissant,
    dataset_card,
    own_results,
)
from voicenym.publication.claim_meter import Claim
from voicenym.publication.corpus_description import Description
from voicenym.publication.data_labels import Entry, entries
from voicenym.publication.published_manifests import FORMATS, METADATA, write_csv
from voicenym.publication.verified_files import Verified, verify

CHECKSUMS = "SHA256SUMS"
KEPT_DECIBELS = 1.0
"""Change of level within which a level counts as kept (law 3)."""


@dataclass(frozen=True)
class Request:
    """What to release.

    Args:
        corpus: folder or manifest of anonymized recordings.
        output: folder that does not exist yet.
        about: the publisher's statements.
        original, mapping: originals, and their names where names were drawn.
        report: of ``voicenym evaluate`` on the files of the corpus.
        system_report: on other outputs of the system that made the corpus; the card marks it.
        system: in that report, where it holds several.
        formats: names in :data:`FORMATS`.
        keep: labels to publish, and ``names``.
        level: which folder names the speaker.
    """

    corpus: Path
    output: Path
    about: Description
    original: Path | None = None
    mapping: Path | None = None
    report: Path | None = None
    system_report: Path | None = None
    system: str | None = None
    formats: tuple[str, ...] = tuple(FORMATS)
    keep: tuple[str, ...] = ()
    level: int | None = None


@dataclass(frozen=True)
class Release:
    """What was released.

    Args:
        files: of the publication.
        claims: on them.
        notes: sentences on recordings that the corpus lacks.
    """

    files: Sequence[Verified]
    claims: Sequence[Claim]
    notes: Sequence[str] = ()


def release(request: Request, say: Callable[[int, int], None] = lambda done, of: None) -> Release:
    """Verifies a corpus and writes its publication.

    Args:
        request: what to release.
        say: called with the number of files verified last, and of all.

    Raises:
        VoicenymError: the output exists; a file must not be published; figures are of other files;
            a label, format or statement is missing. Nothing is written then.
    """
    _check(request)
    logged = corpus_sources.log_lines(request.corpus)
    found = corpus_sources.corpus_recordings(request.corpus, request.keep, request.level)
    originals, count = corpus_sources.originals_of(
        found, request.original, request.mapping, request.level
    )
    notes = corpus_sources.incomplete(logged, found, count)
    lines = {path: line for path, line in logged.items() if "sha256" in line}
    names = corpus_sources.check_names(
        found, originals, lines, request.keep, request.mapping is not None
    )
    files = verify(found, lines, originals, lambda done: say(done, len(found)))
    results = []
    if request.report is not None:
        results.append(own_results.of_files(request.report, {one.sha256 for one in files}))
    if request.system_report is not None:
        figures = _on_other_outputs(request.system_report, request.system, lines, len(files))
        if figures.corpus_made_by:
            notes = [*notes, f"{request.system_report}: {figures.sentence}"]
        results.append(figures)
    facts = dataset_card.Facts(
        entries(files, request.keep),
        _processing(found, lines),
        names,
        _checks(files),
        results,
        request.formats,
    )
    output = request.output
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        sweep(output.parent)
        with temporary_folder(output.parent) as made:
            folder = made / "publication"
            folder.mkdir(mode=0o755)
            _write(folder, request, facts)
            if output.is_dir():
                output.rmdir()  # it is empty
            os.rename(folder, output)
    except OSError as error:
        raise CorpusError(str(write_failed(str(output), error))) from None
    return Release(files, facts.claims, notes)


def _on_other_outputs(
    report: Path, system: str | None, lines: Mapping[Path, Line], of: int
) -> own_results.OwnResults:
    """Figures of the system that made the corpus, by its log, and whether settings are others."""
    logged = [(line.get("fallback") or line, line.get("per")) for line in lines.values()]
    made_by = {str(line.get("system")) for line, _ in logged}
    settings = {own_results.settings_of(line): str(per or "speaker") for line, per in logged}
    return own_results.of_system(report, made_by, system, of, settings)


def _check(request: Request) -> None:
    output = request.output
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise CorpusError(f"{output}: exists already; choose another folder")
    if not request.corpus.exists():
        raise CorpusError(f"{request.corpus}: does not exist; give the anonymized corpus")
    if request.original is None and shard_plan.concerns([str(request.corpus)], None):
        raise CorpusError(
            f"{request.corpus}: holds shards, whose log does not say which recordings are in them, "
            "so that nothing shows that these were anonymized; give --original, or release a "
            "corpus of files, of which shards are written (--format webdataset, parquet)"
        )
    root = corpus_sources.root_of(request.corpus).resolve()
    if output.resolve().is_relative_to(root):
        raise CorpusError(f"{output}: lies in the corpus itself; choose a folder outside of it")
    known = (*corpus_sources.LABELS, corpus_sources.NAMES)
    for what, given, there in (
        ("--keep", request.keep, known),
        ("--format", request.formats, tuple(FORMATS)),
    ):
        wrong = [name for name in given if name not in there]
        if wrong:
            raise CorpusError(f"{what} {wrong[0]}: must be one of {', '.join(there)}")


def _write(folder: Path, request: Request, facts: dataset_card.Facts) -> None:
    """Writes all files of the publication into an empty folder."""
    about = request.about
    for entry in facts.entries:
        target = folder / entry.file_name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(entry.verified.recording.path, target)
        if sha256_of(target) != entry.verified.sha256:
            raise CorpusError(
                f"{entry.verified.recording.path}: changed while it was released; run again"
            )
    write_csv(folder, facts.entries)
    for name in request.formats:
        FORMATS[name](folder, facts.entries)
    _write_json(folder / "claims.json", _claims_record(facts))
    _write_json(folder / "verification.json", [_record(entry) for entry in facts.entries])
    tables = [folder / METADATA, *folder.glob("webdataset/*.tar"), *folder.glob("data/*.parquet")]
    described = {
        path.relative_to(folder).as_posix(): (sha256_of(path), path.stat().st_size)
        for path in tables
    }
    remains = (*dataset_card.REMAINS, facts.names)
    row = facts.entries[0].row()
    croissant.write(folder, croissant.described(about, row, described, remains, facts.processing))
    (folder / dataset_card.CARD).write_text(dataset_card.card(about, facts), "utf-8")
    written = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = [f"{sha256_of(path)}  {path.relative_to(folder).as_posix()}\n" for path in written]
    (folder / CHECKSUMS).write_text("".join(sums), "utf-8")
    _settle(folder)


def _settle(folder: Path) -> None:
    """Gives files and folders the modes of published data and one time."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    timestamps.level([*folder.rglob("*"), folder])


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _claims_record(facts: dataset_card.Facts) -> dict[str, object]:
    return {
        "overall": claim_meter.overall(facts.claims),
        "figures": [
            {
                "what": one.sentence,
                "measured_on_these_files": one.tied,
                "verdict": one.grade,
                "claims": [dataclasses.asdict(claim) for claim in claim_meter.claims(one.system)],
            }
            for one in facts.results
        ],
    }


def _record(entry: Entry) -> dict[str, object]:
    one = entry.verified
    return {
        "file_name": entry.file_name,
        "sha256": one.sha256,
        "seconds": round(one.seconds, 6),
        "level_dbfs": round(one.level, 2),
        "as_in_log": one.logged,
        "compared_with_original": one.compared,
        "level_change_db": None if one.level_change is None else round(one.level_change, 2),
        "tempo": None if one.tempo is None else round(one.tempo, 4),
        "metadata": "none",
    }


def _processing(found: Sequence[object], lines: Mapping[Path, Line]) -> str:
    """How the recordings were anonymized, by the log."""
    made = Counter(_label(line.get("fallback") or line) for line in lines.values())
    if not made:
        return (
            "The recordings were anonymized by a program that left no log; what it did is not "
            f"known here. Verified by voicenym {voicenym.__version__}."
        )
    systems = ", ".join(
        f"{name} ({counted(count, 'recording')})" for name, count in made.most_common()
    )
    per = " and ".join(sorted({str(line.get("per", "speaker")) for line in lines.values()}))
    edited = sum("edited" in line for line in lines.values())
    words = f" Words were removed from {counted(edited, 'recording')}." if edited else ""
    return f"Voices were replaced by voicenym: {systems}; one voice for each {per}.{words}"


def _label(line: Mapping[str, object]) -> str:
    """System, revision and settings of a line of the log."""
    text = f"{line.get('system')} revision {line.get('revision')}"
    given = line.get("parameters")
    settings = dict(given) if isinstance(given, dict) else {}
    settings.pop("device", None)
    return f"{text} with {json.dumps(settings, sort_keys=True)}" if settings else text


def _checks(files: Sequence[Verified]) -> list[str]:
    """Sentences on the verification."""
    count = len(files)
    compared = [one for one in files if one.compared]
    logged = sum(one.logged for one in files)
    lines = [f"{counted(count, 'file was', 'files were')} read to the end; none holds metadata."]
    if logged:
        lines.append(
            f"{counted(logged, 'file has', 'files have')} the SHA-256 of the log of the "
            "anonymization."
        )
    if not compared:
        lines.append(
            "No file was compared with its original here; voicenym anonymize did so when it wrote "
            "them, by its log."
        )
        return lines
    lines.append(
        f"{counted(len(compared), 'file was', 'files were')} compared with the original: none is "
        "nearly so."
    )
    longer = sum(abs((one.tempo or 1.0) - 1.0) * one.seconds > SAME_SECONDS for one in compared)
    lines.append(
        f"{counted(longer, 'file has', 'files have')} another duration than the original."
        if longer
        else "All files have the duration of their original."
    )
    louder = sum(abs(one.level_change or 0.0) > KEPT_DECIBELS for one in compared)
    lines.append(
        f"{counted(louder, 'file differs', 'files differ')} in level by more than "
        f"{KEPT_DECIBELS:g} dB."
    )
    return lines
