"""lhotse manifests: reads cuts, and writes anonymized recordings and their cuts.

A recording of one speaker is anonymized as a whole, and its cuts do not change. In a recording of
several speakers every supervision becomes a recording of its own, in the voice of its speaker, like
Kaldi's segments (:mod:`voicenym.corpus.readers.kaldi_utterances`). It is cut in memory, and sound
between supervisions is left out.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.audio.atomic import AtomicFile
from voicenym.audio.container_files.containers import output_suffix
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.excerpt import Passage
from voicenym.corpus.plans.earlier_tables import EarlierHere, EarlierRuns
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.plans.lhotse_outputs import described
from voicenym.corpus.plans.output_target import check_inside
from voicenym.corpus.readers.id_checks import check_id
from voicenym.corpus.readers.lhotse_cuts import read_cuts
from voicenym.corpus.readers.lhotse_fields import Outlines
from voicenym.errors import CorpusError

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
OUTPUT_NAME = "cuts.jsonl.gz"
FOLDER = "audio"
"""Folder of the recordings in an output folder."""


@dataclass(frozen=True)
class LhotseManifest:
    """A manifest of cuts and the plan of its outputs.

    Args:
        items: one for each recording of one speaker, one for each supervision of the others.
        cuts: lhotse's cuts by the item's utterance.
        supervisions: by the item's utterance, of those that become recordings of their own; they
            start at 0.
        outlines: makes the new cuts, with the fields to copy and the new names.
    """

    output: Path
    items: list[Item]
    cuts: dict[str, list[Any]]
    supervisions: dict[str, Any]
    outlines: Outlines

    def check_tables(self, earlier: EarlierRuns | None = None) -> None:
        """Refuses to replace a manifest that earlier runs into the output folder did not write.

        Args:
            earlier: those runs; by default they are looked for in the output folder.

        Raises:
            CorpusError: it has a cut of something else than an output in the log.
        """
        earlier = earlier or EarlierHere(self.output, FOLDER)
        path = earlier.read(OUTPUT_NAME)
        if path is None:
            return
        cuts = _written(path)
        if cuts is None:
            raise earlier.taken(OUTPUT_NAME, None)
        strange = cuts.keys() - earlier.outputs().keys()
        if strange:
            raise earlier.taken(OUTPUT_NAME, min(strange))

    def finish(self, failed: set[str]) -> list[Path]:
        """Writes ``cuts.jsonl.gz`` with the anonymized recordings; returns its path.

        Cuts of earlier runs stay if the log has their outputs and this run did not plan them.

        Raises:
            CorpusError: an output is no recording, so that another program wrote it; the others are
                in the manifest.
        """
        there = [i for i in self.items if i.utterance not in failed and i.target.is_file()]
        done, unread = [], []
        tasks = [(item.target, self.id_of(item)) for item in there]
        for item, recording in zip(there, described(tasks), strict=True):
            if recording is None:
                unread.append(item.target)
            else:
                done += self.cuts_of(item, recording)
        earlier = EarlierHere(self.output, FOLDER)
        self.write(self.output / OUTPUT_NAME, done, self.earlier_cuts(earlier))
        if unread:
            raise CorpusError(
                f"{unread[0]}: cannot be read as a recording ({len(unread)} such), so that it is "
                f"not what voicenym wrote there, and {OUTPUT_NAME} leaves it out; remove it and "
                "run again"
            )
        return [self.output / OUTPUT_NAME]

    def earlier_cuts(self, earlier: EarlierRuns) -> list[dict[str, Any]]:
        """Cuts of earlier runs that stay."""
        known = earlier.outputs()
        ours = {self.id_of(item) for item in self.items}
        try:
            path = earlier.read(OUTPUT_NAME)
        except CorpusError:
            path = None
        before = {} if path is None else _written(path) or {}
        return [
            cut
            for name, cuts in before.items()
            if name not in ours and name in known and earlier.is_there(known[name])
            for cut in cuts
        ]

    def id_of(self, item: Item) -> str:
        """New id of an item's recording."""
        return self.outlines.recording(item.speaker, item.utterance)

    def cuts_of(self, item: Item, recording: Any) -> list[Any]:
        """New cuts of an item, whose output lhotse describes as ``recording``."""
        name, speaker = item.utterance, item.speaker
        if name in self.supervisions:
            return [self.outlines.own_cut(recording, speaker, self.supervisions[name])]
        return [self.outlines.cut(recording, speaker, cut) for cut in self.cuts[name]]

    def write(
        self, path: Path, cuts: Sequence[Any], earlier: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Writes a manifest of new cuts.

        Args:
            path: of the manifest.
            cuts: of this run.
            earlier: cuts of earlier runs, as the manifest holds them.

        Raises:
            AudioError: the disk is full, or the folder cannot be written.
        """
        rows = [*earlier, *(cut.to_dict() for cut in cuts)]
        if earlier or self.outlines.names is not None:  # no order of the runs, nor of old names
            rows.sort(key=lambda row: str(row["id"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        file = AtomicFile(path, overwrite=True)
        try:
            with (
                file.temporary.open("wb") as raw,
                gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,  # neither name nor date
            ):
                for row in rows:
                    line = json.dumps(row, ensure_ascii=False)
                    packed.write(line.encode("utf-8", "surrogateescape") + b"\n")
            file.commit()
        finally:
            file.discard()


def _written(path: Path) -> dict[str, list[dict[str, Any]]] | None:
    """Cuts of a manifest by their recordings' ids; None if it is not as voicenym writes it."""
    found: dict[str, list[dict[str, Any]]] = {}
    if not path.is_file():  # a pipe may never end
        return None
    try:
        with gzip.open(path, "rb") as file:
            for data in file:
                cut = json.loads(data.decode("utf-8", "surrogateescape"))
                if not isinstance(cut["id"], str):
                    return None
                found.setdefault(str(cut["recording"]["id"]), []).append(cut)
    except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError, zlib.error):
        return None
    return found


def is_manifest(path: Path) -> bool:
    """Whether a file has the name of a lhotse manifest."""
    return path.is_file() and path.name.endswith(SUFFIXES)


def read_manifest(
    path: Path,
    output: Path,
    *,
    keep: Sequence[str] = (),
    names: Names | None = None,
    remote: bool = False,
) -> LhotseManifest:
    """Plan for a lhotse manifest of cuts.

    Args:
        path: cuts, as ``.jsonl`` or ``.jsonl.gz``; supervisions name their speakers.
        output: will hold ``audio/`` and ``cuts.jsonl.gz``.
        keep: fields to copy besides the labels, as in :class:`Outlines`.
        names: draws new names for speakers, recordings, cuts and supervisions; None keeps the old
            ones.
        remote: whether recordings may have URLs, which become their paths; nothing opens them.

    Raises:
        DependencyError: lhotse is not installed.
        CorpusError: not a manifest of cuts, a missing speaker, audio that is not one file, a path
            outside ``output``, or a field that cannot be copied.
    """
    if (output / OUTPUT_NAME).resolve() == path.resolve():
        raise CorpusError(f"{path}: would be replaced itself; choose another folder with -o")
    cuts = _read_cuts(path)
    outlines = Outlines(tuple(keep), names)
    outlines.check(path, (cut for group in cuts.values() for cut in group))
    items: list[Item] = []
    supervisions: dict[str, Any] = {}
    for name, group in cuts.items():
        source = _source(path, group[0].recording, remote)
        speakers = {s.speaker for cut in group for s in cut.supervisions if s.speaker}
        if not speakers:
            raise CorpusError(
                f"{path}: {name} has no speaker; give its supervisions one, voices are given per "
                "speaker"
            )
        if len(speakers) == 1:
            speaker = speakers.pop()
            called = outlines.recording(speaker, name) + output_suffix(source.suffix)
            target = output / FOLDER / check_id(f"{path}: id", called, folders=True)
            items.append(Item(source, target, speaker, name))
            continue
        for passage, supervision in _passages(path, source, group):
            if passage.name in supervisions:
                if supervision == supervisions[passage.name]:
                    continue  # the same one, in cuts that overlap
                raise CorpusError(
                    f"{path}: two supervisions are called {passage.name}; give each its own id"
                )
            called = f"{outlines.recording(supervision.speaker, passage.name)}.wav"
            target = output / FOLDER / check_id(f"{path}: id", called, folders=True)
            items.append(Item(passage, target, supervision.speaker, passage.name))
            supervisions[passage.name] = supervision
    if not items:
        raise CorpusError(f"{path}: no cuts in this manifest")
    check_inside(items, output)
    return LhotseManifest(output, items, cuts, supervisions, outlines)


def _read_cuts(path: Path) -> dict[str, list[Any]]:
    """Simple cuts by the id of their recording."""
    found = read_cuts(path)
    from lhotse.cut import MonoCut, MultiCut

    cuts: dict[str, list[Any]] = {}
    for cut in found:
        if not isinstance(cut, (MonoCut, MultiCut)) or cut.recording is None:
            raise CorpusError(
                f"{path}: {cut.id} is no cut with a recording of its own; make simple cuts: lhotse "
                "cut simple -r RECORDINGS -s SUPERVISIONS CUTS"
            )
        cuts.setdefault(cut.recording.id, []).append(cut)
    return cuts


def _source(path: Path, recording: Any, remote: bool) -> Path:
    kinds = ("file", "url") if remote else ("file",)
    if len(recording.sources) != 1 or recording.sources[0].type not in kinds:
        raise CorpusError(f"{path}: {recording.id} is not stored as one file, which is needed here")
    if recording.transforms:
        raise CorpusError(
            f"{path}: {recording.id} is changed when it is read (its transforms); save the changed "
            "recordings first"
        )
    return Path(recording.sources[0].source)


def _passages(path: Path, source: Path, cuts: list[Any]) -> Iterator[tuple[Passage, Any]]:
    """Interval of each supervision in its cut, and the supervision, starting at 0."""
    for cut in cuts:
        known = cut.recording.sources[0].channels
        for one in cut.supervisions:
            if not one.speaker:
                raise CorpusError(
                    f"{path}: {one.id} names no speaker, but {cut.recording.id} has several; fill "
                    "in its speaker"
                )
            start, end = max(0.0, one.start), min(cut.duration, one.end)
            if start >= end:
                continue  # outside its cut
            wanted = one.channel if isinstance(one.channel, list) else [one.channel]
            if not set(wanted) <= set(known):
                raise CorpusError(
                    f"{path}: {one.id} is in channel {one.channel}, but {cut.recording.id} has "
                    f"{known}; mend the manifest"
                )
            yield (
                Passage(
                    source,
                    one.id,
                    cut.start + start,
                    min(cut.start + end, cut.recording.duration),
                    tuple(known.index(channel) for channel in wanted),
                ),
                one.with_offset(-start).trim(end - start),
            )
