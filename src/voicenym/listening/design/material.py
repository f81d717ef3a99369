"""Recordings of a study: the originals, and what each system made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.anonymized_files import matched
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.run_records.run_log import LOG_NAME, RunLog
from voicenym.errors import VoicenymError

ORIGINAL = "original"
RESERVED = (ORIGINAL, "reference", "anchor35", "anchor70")
LINE_UP = 5
"""People in a line-up."""


@dataclass(frozen=True)
class Material:
    """Recordings by system and utterance.

    Args:
        utterances: original recordings.
        versions: of each system, the original first: recordings by the name of the utterance.
        settled: systems and utterances of recordings that need no comparison with their originals.
    """

    utterances: tuple[Recording, ...]
    versions: Mapping[str, Mapping[str, Recording]]
    settled: frozenset[tuple[str, str]] = frozenset()

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of the systems, the original first."""
        return tuple(self.versions)

    def others(self, one: Recording) -> list[Recording]:
        """Other originals of the same speaker."""
        return [u for u in self.utterances if u.speaker == one.speaker and u.name != one.name]

    def strangers(self, one: Recording) -> list[Recording]:
        """Originals of other speakers; those of the same sex, if there are any and it is known."""
        found = [u for u in self.utterances if u.speaker != one.speaker]
        alike = [u for u in found if one.sex and u.sex == one.sex]
        return alike or found


def gather(originals: Path, systems: Mapping[str, Path], alike: Collection[str] = ()) -> Material:
    """Originals of a corpus with their counterparts.

    Args:
        originals: folder of speakers, Kaldi data folder, manifest or lhotse manifest.
        systems: folder of anonymized files by the system's name.
        alike: systems that are meant to sound like the originals, and are not compared with them.

    Raises:
        CorpusError: counterparts are missing; the message names them.
        VoicenymError: no systems, a name that means something else here or that no system has, or
            a file of a system that is an original, which listeners would hear.
    """
    if not systems:
        raise VoicenymError("a study needs at least one anonymized folder: --system NAME=FOLDER")
    for name in systems:
        if not name.strip() or not name.isprintable():
            raise VoicenymError(f"--system {name!r}: is no name that a table can show; choose one")
        if name in RESERVED:
            raise VoicenymError(f"a system cannot be called {name!r} here; choose another name")
    for name in alike:
        if name not in systems:
            raise VoicenymError(
                f"--sounds-alike {name}: no --system of that name; there are: {', '.join(systems)}"
            )
    speech = recordings(originals)
    versions: dict[str, Mapping[str, Recording]] = {ORIGINAL: {one.name: one for one in speech}}
    for name, folder in systems.items():
        files = matched(speech, folder)
        versions[name] = {one.name: _as_recording(one, files[one.name]) for one in speech}
    _check_changed(versions)
    return Material(tuple(speech), versions, _settled(versions, systems, alike))


def _settled(
    versions: Mapping[str, Mapping[str, Recording]],
    systems: Mapping[str, Path],
    alike: Collection[str],
) -> frozenset[tuple[str, str]]:
    """Recordings that are not compared: of systems that are alike, and those that ``voicenym
    anonymize`` wrote, as its log says, since it compares each with its original.
    """
    found = set()
    for name, folder in systems.items():
        log = RunLog((folder if folder.is_dir() else folder.parent) / LOG_NAME)
        log.read()
        written = {line.get("sha256") for line in log.lines.values()}
        found |= {
            (name, utterance)
            for utterance, one in versions[name].items()
            if name in alike or (written and _content(one) in written)
        }
    return frozenset(found)


def _check_changed(versions: Mapping[str, Mapping[str, Recording]]) -> None:
    """Refuses a file of a system that is an original, also as a copy, link or part of it."""
    originals = versions[ORIGINAL].values()
    places = {one.path.resolve() for one in originals if not one.command}
    contents = {_content(one) for one in originals}
    for name, files in versions.items():
        for one in files.values() if name != ORIGINAL else ():
            at_home = not one.command and one.path.resolve() in places
            if at_home or _content(one) in contents:
                raise VoicenymError(
                    f"{name}: {one.place} is the original itself; give the anonymized folder"
                )


def _content(one: Recording) -> str:
    """SHA-256 of the whole file of a recording."""
    return one.digest().partition(" ")[0]


def _as_recording(original: Recording, file: Path | Recording) -> Recording:
    if isinstance(file, Recording):
        return file
    return dataclasses.replace(original, path=file, start=0.0, end=None, command="")


def check(material: Material, tests: Sequence[str]) -> None:
    """Refuses tests for which the material does not suffice.

    Raises:
        VoicenymError: pairs without a second recording of a speaker or a second speaker; a line-up
            with fewer than five people; words without transcripts.
    """
    speakers = {one.speaker for one in material.utterances}
    pairs = {"verifiability", "voiceprivacy", "same"} & set(tests)
    alone = [one for one in material.utterances if not material.others(one)]
    if (pairs or "linkage" in tests) and alone:
        raise VoicenymError(
            f"{alone[0].name}: {alone[0].speaker} has no second recording to compare it with; give "
            "each speaker two, or choose tests without pairs of recordings"
        )
    if pairs and len(speakers) < 2:
        raise VoicenymError(
            f"{min(pairs)} compares different speakers, and there is one; give recordings of two"
        )
    if "linkage" in tests and len(speakers) < LINE_UP:
        raise VoicenymError(
            f"a line-up needs {LINE_UP} people, and the originals have {len(speakers)}; give "
            "recordings of more speakers"
        )
    if "words" in tests:
        untold = [one.name for one in material.utterances if not one.text.strip()]
        if untold:
            raise VoicenymError(
                f"{untold[0]}: nobody says what is spoken in it ({len(untold)} such); write the "
                "words into a .txt file beside the recording, or in the text column of a manifest"
            )
