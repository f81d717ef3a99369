"""WebDataset shards: a tar whose members ``KEY.EXT`` with one key are a sample."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from voicenym.corpus.plans.timestamps import CONSTANT
from voicenym.corpus.readers.id_checks import printable
from voicenym.corpus.readers.speaker_rule import own_of
from voicenym.corpus.shards.formats.shard_sample import (
    MOST_BYTES,
    Assignments,
    FieldChoice,
    Rewritten,
    Sample,
    Voice,
    in_new_order,
    is_sound,
    speaker_name,
    written_name,
)
from voicenym.corpus.shards.formats.tar_index import (
    TEXTS,
    TarSample,
    bytes_of,
    fields_of,
    index,
    text_of,
)
from voicenym.errors import CorpusError


def survey(file: BinaryIO, where: str, choice: FieldChoice, lenient: bool) -> list[Sample]:
    """Samples with recordings, and their speakers where a field names them.

    Raises:
        CorpusError: as of :func:`index`; fields that are chosen are in no sample.
    """
    names: set[str] = set()
    speakers: dict[str, str | None] = {}
    unclear: set[str] = set()

    def tell(sample: TarSample, fields: dict[str, Any]) -> None:
        names.update(fields)
        named = choice.speaker_field(fields)
        try:
            speakers[sample.name] = speaker_name(where, fields[named]) if named else None
        except CorpusError:
            unclear.add(sample.name)  # a fault, which rewrite reports

    samples = [s for s in index(file, where, lenient, tell) if s.sounds and not s.fault]
    choice.check(where, names.union(e for s in samples for e in s.members if e in TEXTS))
    return [Sample(s.name, speakers.get(s.name)) for s in samples if s.name not in unclear]


def owners(file: BinaryIO, where: str, lenient: bool, names: set[str]) -> Iterator[tuple[str, str]]:
    """Names of samples, and of the speakers that they are if nothing else names one."""
    for sample in index(file, where, lenient):
        if sample.name in names:
            yield sample.name, own_of(b"".join(bytes_of(file, m) for m in sample.sounds))


def rewrite(
    file: BinaryIO,
    where: str,
    target: Path,
    assigned: Assignments,
    choice: FieldChoice,
    voice: Voice,
    *,
    lenient: bool = False,
    opaque: bool = False,
) -> Rewritten:
    """Writes the shard of the anonymized samples.

    Args:
        file: the original, open.
        where: its name, for messages.
        target: file to write.
        assigned: voices and new names by sample.
        choice: fields that travel.
        voice: anonymizes a recording.
        lenient: as of :func:`index`.
        opaque: whether names are new, so that the order must be, too.

    Raises:
        CorpusError: as of :func:`index`.
    """
    done = Rewritten()
    ready = []
    for sample in index(file, where, lenient):
        if sample.fault:
            done.failures[sample.name] = sample.fault
        elif not sample.sounds:
            done.warnings.append(f"{where} ({printable(sample.name)}): has no recording, left out")
        elif sample.name not in assigned:
            done.failures[sample.name] = _no_speaker(file, sample, where)
        else:
            ready.append(sample)
    with tarfile.open(target, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for sample in in_new_order(ready, assigned, opaque):
            try:
                members = _anonymized(file, where, sample, assigned, choice, voice, done)
            except CorpusError as error:
                done.failures[sample.name] = str(error)
                continue
            done.recordings += len(sample.sounds)
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size, info.mtime, info.mode = len(data), CONSTANT, 0o644
                tar.addfile(info, io.BytesIO(data))
    return done


def _no_speaker(file: BinaryIO, sample: TarSample, where: str) -> str:
    """Why nobody knows who speaks in a sample."""
    try:
        fields_of(file, sample, where)
    except CorpusError as error:
        return str(error)
    return f"{where}: {printable(sample.name)} names no valid speaker; mend its fields"


def _anonymized(
    file: BinaryIO,
    where: str,
    sample: TarSample,
    assigned: Assignments,
    choice: FieldChoice,
    voice: Voice,
    done: Rewritten,
) -> list[tuple[str, bytes]]:
    """Members of the new sample: its recordings, then the fields and texts that travel."""
    new = assigned[sample.name]
    place = f"{where} ({printable(sample.name)})"
    fields = fields_of(file, sample, where)
    kept = _kept_fields(place, fields, assigned[sample.name].speaker, choice, done)
    there = [extension for extension in choice.keep if extension in sample.members]
    for extension in there:
        if extension not in TEXTS:
            raise CorpusError(
                f"{place}: its {extension} may be of the original voice; leave out --keep "
                f"{extension}"
            )
    texts = [
        (name, choice.value(place, name, text_of(file, sample.members[name], place)))
        for name in there
    ]
    members: list[tuple[str, bytes]] = []
    for sound in sample.sounds:
        if sound.size > MOST_BYTES:
            raise CorpusError(f"{place}: is larger than 2 GiB; give it as a file of its own")
        stem = sound.extension.rpartition(".")[0]
        called = written_name(f"{new.name}.{stem}" if stem else new.name, sound.suffix)
        if any(called == name for name, _ in members):
            raise CorpusError(
                f"{place}: its {printable(sound.extension)} would get the name of another of its "
                "recordings, since that kind is read and not written; give it a key of its own"
            )
        data = voice(place, bytes_of(file, sound), sound.suffix, new.pseudonym, done)
        members.append((called, data))
    if kept is not None:
        text = json.dumps(kept, ensure_ascii=False, sort_keys=True)
        members.append((f"{new.name}.json", text.encode("utf-8", "surrogatepass")))
    members += [(f"{new.name}.{e}", text.encode()) for e, text in texts]
    kinds = {e for e in sample.members if e != "json" and not is_sound(f".{e.rsplit('.', 1)[-1]}")}
    done.behind |= kinds - {e for e, _ in texts}
    return members


def _kept_fields(
    place: str,
    fields: dict[str, Any] | None,
    label: str | None,
    choice: FieldChoice,
    done: Rewritten,
) -> dict[str, Any] | None:
    """Fields that travel; ``label`` takes the speaker's place, if there is one."""
    if fields is None:
        return None
    speaker = choice.speaker_field(fields)
    kept = {n: choice.value(place, n, fields[n]) for n in choice.labels(fields)}
    done.behind |= fields.keys() - kept.keys() - {speaker}
    if speaker is not None:
        kept[speaker] = fields[speaker] if label is None else label
    return kept
