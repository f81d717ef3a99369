"""Utterances of Kaldi data folders, from ``wav.scp``, ``utt2spk``, ``segments`` and others.

Utterances of ``segments`` are cut in memory: speech between them, often of other people, is left
out.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from voicenym.corpus.commands import output_of
from voicenym.corpus.excerpt import cut_out
from voicenym.corpus.readers.id_checks import check_word, printable
from voicenym.corpus.readers.kaldi_tables import BLANKS, segments, table
from voicenym.corpus.sex_labels import sex_of
from voicenym.errors import CorpusError


@dataclass(frozen=True)
class Utterance:
    """One utterance of a data folder.

    Args:
        name: of the utterance.
        speaker: from ``utt2spk``.
        entry: of ``wav.scp``: a path, or a command that ends in ``|``.
        start, end: seconds within the recording; an ``end`` of None is its end.
        sex: ``f`` or ``m``, from ``spk2gender``; empty where unknown.
        text: empty where unknown.
        age: from ``spk2age``, empty where unknown.
    """

    name: str
    speaker: str
    entry: str
    start: float = 0.0
    end: float | None = None
    sex: str = ""
    text: str = ""
    age: str = ""

    @property
    def piped(self) -> bool:
        """Whether its recording is the output of a command."""
        return self.entry.rstrip().endswith("|")


@dataclass(frozen=True)
class Cut:
    """An utterance without a file of its own, cut in memory when it is read."""

    utterance: Utterance

    @property
    def path(self) -> Path | None:
        """File of the recording; None if a command prints it."""
        return None if self.utterance.piped else Path(self.utterance.entry)

    @property
    def stretch(self) -> tuple[float, float | None]:
        """Start and end, in seconds."""
        return self.utterance.start, self.utterance.end

    @property
    def part(self) -> str:
        """Its times, and the command that prints its recording."""
        one = self.utterance
        return f"{one.start} {one.end} {one.entry if one.piped else ''}".rstrip()

    def open(self, lenient: bool = False) -> BinaryIO:
        """The utterance as a WAV file in memory.

        Raises:
            CorpusError: its command failed.
            AudioError: its recording cannot be read.
        """
        return _cut(self.utterance, lenient)

    def __str__(self) -> str:
        return f"{self.utterance.entry} ({self.utterance.name})"


def is_kaldi(path: Path) -> bool:
    """Whether a folder is a Kaldi data folder; one that may not be entered is none."""
    try:
        return (path / "wav.scp").is_file()
    except PermissionError:
        return False


def read_utterances(folder: Path) -> list[Utterance]:
    """All utterances of a data folder, in the order of ``segments`` or ``wav.scp``.

    Raises:
        CorpusError: tables are missing or inconsistent.
    """
    recordings = table(folder / "wav.scp")
    if not (folder / "utt2spk").is_file():
        raise CorpusError(f"{folder}/utt2spk: missing; voices are given per speaker")
    speakers = table(folder / "utt2spk")
    sexes, ages, texts = (
        table(folder / name) if (folder / name).is_file() else {}
        for name in ("spk2gender", "spk2age", "text")
    )
    if (folder / "segments").is_file():
        parts = segments(folder / "segments")
    else:
        parts = {name: (name, 0.0, None) for name in recordings}
    found = []
    for name, (recording, start, end) in parts.items():
        if recording not in recordings:
            raise CorpusError(f"{folder}/segments: {recording} of {name} is not in wav.scp")
        if name not in speakers:
            raise CorpusError(f"{folder}/utt2spk: no speaker for {name}; add a line")
        speaker, entry = speakers[name], recordings[recording]
        if re.search(f"[{BLANKS}]", check_word(f"{folder}/utt2spk: speaker", speaker)):
            raise CorpusError(
                f"{folder}/utt2spk: {printable(speaker)!r} of {name} is more than one word; a "
                "speaker's name has no spaces"
            )
        sex, age, text = sex_of(sexes.get(speaker)), ages.get(speaker, ""), texts.get(name, "")
        found.append(Utterance(name, speaker, entry, start, end, sex, text, age))
    return found


def allowed_command(folder: Path, utterance: Utterance, allow_pipes: bool) -> str:
    """Command that prints an utterance's recording.

    Args:
        folder: whose ``wav.scp`` holds it.
        utterance: piped.
        allow_pipes: whether the user trusts the folder.

    Raises:
        CorpusError: the user does not allow commands.
    """
    if not allow_pipes:
        raise CorpusError(
            f"{folder}/wav.scp: {printable(utterance.entry[:60])} is a command; commands run "
            "with your rights: if you trust this folder, add --allow-pipes"
        )
    return utterance.entry.rstrip()[:-1]


def _cut(utterance: Utterance, lenient: bool) -> BinaryIO:
    source: Path | io.BytesIO = Path(utterance.entry)
    if utterance.piped:
        source = io.BytesIO(output_of(utterance.entry.rstrip()[:-1]))
    return cut_out(
        source,
        utterance.name,
        utterance.start,
        utterance.end,
        lenient=lenient,
        label=utterance.entry,
        where="segments",
    )
