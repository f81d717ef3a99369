"""Shards of lhotse's Shar format: a tar of recordings, and a table of cuts in the same order.

``recording.N.tar`` holds, for each cut, its sound ``ID.EXT`` and a manifest ``ID.json``;
``cuts.N.jsonl.gz`` holds the cuts, which name the speakers. Other fields of a Shar, such as
features, are computed from the original voices and are not read.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.corpus.plans.timestamps import CONSTANT
from voicenym.corpus.readers.id_checks import check_id, printable
from voicenym.corpus.readers.lhotse_cuts import read_cuts
from voicenym.corpus.readers.lhotse_fields import LABELS, TEXTS, Outlines
from voicenym.corpus.shards.formats.shard_sample import (
    MOST_BYTES,
    Assignment,
    Assignments,
    FieldChoice,
    Rewritten,
    Sample,
    Voice,
    in_new_order,
    is_sound,
    written_name,
)
from voicenym.corpus.shards.formats.tar_index import TarMember, bytes_of, index
from voicenym.errors import CorpusError

UNNAMED = "wav"
"""Extension of a sound whose member does not name its format (lhotse's ``original``)."""


@dataclass(frozen=True)
class _Cut:
    """A cut under its name, as :func:`in_new_order` sorts it."""

    name: str
    cut: Any
    sound: TarMember


def cuts_of(table: Path, where: str) -> dict[str, Any]:
    """Cuts of a table by their ids, in their order.

    Args:
        table: file on this machine.
        where: its name, for messages.

    Raises:
        CorpusError: it is no table of cuts, or two have one id.
        DependencyError: lhotse is missing.
    """
    try:
        found = read_cuts(table)
        cuts: dict[str, Any] = {}
        for cut in found:
            if cuts.setdefault(check_id(str(table), cut.id, folders=True), cut) is not cut:
                raise CorpusError(f"{table}: two cuts are called {printable(cut.id)}; rename one")
    except CorpusError as error:
        raise CorpusError(str(error).replace(str(table), where)) from None
    return cuts


def survey(table: Path, where: str, choice: FieldChoice) -> list[Sample]:
    """Cuts, and their speakers where all supervisions name the same one.

    Raises:
        CorpusError: as of :func:`cuts_of`; fields that are chosen are not there.
    """
    if choice.speaker is not None:
        raise CorpusError(f"{where}: its supervisions name the speakers; leave out --speaker-field")
    cuts = cuts_of(table, where)
    Outlines(choice.keep).check(Path(where), cuts.values())
    return [Sample(name, _speaker(cut)) for name, cut in cuts.items()]


def _speaker(cut: Any) -> str | None:
    names = {one.speaker for one in getattr(cut, "supervisions", [])}
    return names.pop() if len(names) == 1 else None


def rewrite(
    file: BinaryIO,
    where: str,
    table: Path,
    targets: tuple[Path, Path],
    assigned: Assignments,
    choice: FieldChoice,
    voice: Voice,
    *,
    lenient: bool = False,
    opaque: bool = False,
) -> Rewritten:
    """Writes the tar and the table of the anonymized cuts, in the same order.

    Args:
        file: the original tar, open.
        where: its name, for messages.
        table: the original cuts, on this machine.
        targets: files to write: tar and table.
        assigned: voices and new names by cut.
        choice: fields that travel.
        voice: anonymizes a recording.
        lenient: as of :func:`voicenym.corpus.shards.formats.tar_index.index`.
        opaque: whether names are new, so that the order must be, too.

    Raises:
        CorpusError: a file of the two is damaged.
    """
    done = Rewritten()
    cuts = cuts_of(table, where)
    sounds = sounds_of(file, where, lenient)
    ready = []
    for name, cut in cuts.items():
        if why := _fault(name, cut, sounds, assigned):
            done.failures[name] = f"{where} ({printable(name)}): {why}"
        else:
            ready.append(_Cut(name, cut, sounds[name]))
    done.behind = _behind((one.cut for one in ready), choice)
    with (
        tarfile.open(targets[0], mode="w", format=tarfile.PAX_FORMAT) as tar,
        targets[1].open("wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
    ):
        for one in in_new_order(ready, assigned, opaque):
            new = assigned[one.name]
            place = f"{where} ({printable(one.name)})"
            extension = one.sound.extension if is_sound(one.sound.suffix) else UNNAMED
            suffix = f".{extension}"
            try:
                data = voice(place, bytes_of(file, one.sound), suffix, new.pseudonym, done)
            except CorpusError as error:
                done.failures[one.name] = str(error)
                continue
            recording = _recording(one, new, data, opaque)
            member = json.dumps(recording.to_dict()).encode()
            for called, content in (
                (written_name(new.name, suffix), data),
                (f"{new.name}.json", member),
            ):
                info = tarfile.TarInfo(called)
                info.size, info.mtime, info.mode = len(content), CONSTANT, 0o644
                tar.addfile(info, io.BytesIO(content))
            cut = _cut(one.cut, recording, new, choice, opaque)
            line = json.dumps(cut.to_dict(), ensure_ascii=False)
            packed.write(line.encode("utf-8", "surrogateescape") + b"\n")
            done.recordings += 1
    return done


def sounds_of(file: BinaryIO, where: str, lenient: bool) -> dict[str, TarMember]:
    """Sound of each cut; ids may have dots, so that only the last extension is cut off."""
    found = {}
    for sample in index(file, where, lenient):
        if sample.fault:
            continue
        for extension, member in sample.members.items():
            inner, _, last = f"{sample.name}.{extension}".rpartition(".")
            if last not in ("json", "nodata", "nometa"):
                found[inner] = TarMember(last, member.start, member.size)
    return found


def _fault(name: str, cut: Any, sounds: dict[str, TarMember], assigned: Assignments) -> str:
    """Why a cut cannot be used; empty if it can."""
    if getattr(cut, "recording", None) is None:
        return "has no recording of its own; make simple cuts (lhotse cut simple)"
    if name not in sounds:
        return "has no sound in the tar; get a whole copy of the shard"
    if sounds[name].size > MOST_BYTES:
        return "is larger than 2 GiB; cut it"
    if name not in assigned:
        return (
            "needs one speaker in its supervisions; cut it with lhotse's trim_to_supervisions, or "
            "fill in the speaker"
        )
    return ""


def _recording(one: _Cut, new: Assignment, data: bytes, opaque: bool) -> Any:
    """Manifest of the new sound, with a placeholder for it."""
    from lhotse import AudioSource, Recording

    from voicenym.audio import open_reader

    with open_reader(io.BytesIO(data)) as reader:
        rate, channels = reader.rate, reader.channels
        samples = sum(block.shape[-1] for block in reader.blocks(1 << 16))
    name = new.name if opaque else one.cut.recording.id
    source = AudioSource("shar", channels=list(range(channels)), source="")
    return Recording(name, [source], rate, samples, samples / rate)


def _cut(cut: Any, recording: Any, new: Assignment, choice: FieldChoice, opaque: bool) -> Any:
    """The cut of a new recording: the whole of it, with the fields that travel."""
    from lhotse.utils import fastcopy

    made = Outlines(choice.keep).cut(recording, "", cut)
    people = made.supervisions
    for number, one in enumerate(people):
        one.speaker = one.speaker if new.speaker is None else new.speaker
        if opaque:
            one.id = f"{new.name}-{number}"
    inside = [one.trim(recording.duration) for one in people if one.start < recording.duration]
    return fastcopy(made, id=new.name, start=0.0, duration=recording.duration, supervisions=inside)


def _behind(cuts: Iterable[Any], choice: FieldChoice) -> set[str]:
    """Names of fields that do not travel."""
    found: set[str] = set()
    for cut in cuts:
        found.update(cut.custom or {})
        if cut.features is not None:
            found.add("features")
        for one in cut.supervisions:
            found.update(one.custom or {})
            found.update(name for name in TEXTS if getattr(one, name))
    return found - {*choice.keep, *LABELS}
