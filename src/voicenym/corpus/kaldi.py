"""Kaldi data folders: read ``wav.scp`` and its companions, write a valid folder of the output.

Recordings that ``segments`` cuts into utterances are cut in memory, so that every utterance gets
the voice of its own speaker, what lies between utterances (often other people) is left out, and no
original speech is ever written.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from voicenym.corpus.cutting import cut_out
from voicenym.corpus.plan import Item
from voicenym.errors import CorpusError

COPIED = ("text", "spk2gender", "utt2lang", "utt2dur")
"""Files about utterances or speakers that hold for the anonymized folder too."""


@dataclass(frozen=True)
class Utterance:
    """One utterance of a data folder.

    Args:
        name: of the utterance.
        speaker: from ``utt2spk``.
        entry: of ``wav.scp``: a path, or a command that ends in ``|``.
        start, end: seconds within the recording; the whole recording where ``end`` is None.
        sex: from ``spk2gender``, empty where unknown.
        text: empty where unknown.
    """

    name: str
    speaker: str
    entry: str
    start: float = 0.0
    end: float | None = None
    sex: str = ""
    text: str = ""

    @property
    def piped(self) -> bool:
        """Whether its recording is what a command prints."""
        return self.entry.rstrip().endswith("|")


@dataclass(frozen=True)
class Cut:
    """An utterance that is no file of its own: it is made in memory when it is read."""

    utterance: Utterance

    @property
    def path(self) -> Path | None:
        """The recording's file; none where a command prints it."""
        return None if self.utterance.piped else Path(self.utterance.entry)

    def open(self, lenient: bool = False) -> BinaryIO:
        """The utterance as a WAV file in memory.

        Raises:
            CorpusError: its command failed.
            AudioError: its recording cannot be read.
        """
        return _cut(self.utterance, lenient)

    def __str__(self) -> str:
        return f"{self.utterance.entry} ({self.utterance.name})"


@dataclass(frozen=True)
class KaldiFolder:
    """A data folder and what is to be made of it.

    Args:
        source, output: folders.
        items: one for each utterance.
        speakers: by utterance.
    """

    source: Path
    output: Path
    items: list[Item]
    speakers: dict[str, str]

    def finish(self, failed: set[str]) -> None:
        """Write the companions of the utterances there are."""
        there = {
            item.utterance: item.target
            for item in self.items
            if item.utterance not in failed and item.target.is_file()
        }
        _write(self.output / "wav.scp", {u: str(path) for u, path in there.items()})
        utt2spk = {u: self.speakers[u] for u in there}
        _write(self.output / "utt2spk", utt2spk)
        spk2utt: dict[str, list[str]] = {}
        for utterance in sorted(utt2spk, key=_bytes):
            spk2utt.setdefault(utt2spk[utterance], []).append(utterance)
        _write(self.output / "spk2utt", {s: " ".join(us) for s, us in spk2utt.items()})
        kept = set(there) | set(spk2utt)
        for name in COPIED:
            if (self.source / name).is_file():
                rows = {k: v for k, v in _table(self.source / name).items() if k in kept}
                _write(self.output / name, rows)


def is_kaldi(path: Path) -> bool:
    """Whether a folder is a Kaldi data folder."""
    return (path / "wav.scp").is_file()


def read_kaldi(source: Path, output: Path, *, allow_pipes: bool = False) -> KaldiFolder:
    """Plan for a Kaldi data folder.

    Args:
        source: holds ``wav.scp``, ``utt2spk`` and perhaps ``segments``.
        output: will hold ``wav/UTTERANCE.wav`` and the same companions.
        allow_pipes: run commands in ``wav.scp`` (``sph2pipe ... |``); they run with your rights.

    Raises:
        CorpusError: what is missing or does not agree.
    """
    items, speakers = [], {}
    for utterance in read_utterances(source):
        name = utterance.name
        if "/" in name or name in (".", ".."):
            raise CorpusError(f"{source}/utt2spk: {name} cannot be a file name; rename it")
        if utterance.piped and not allow_pipes:
            raise CorpusError(
                f"{source}/wav.scp: {utterance.entry[:60]} is a command; commands run with "
                "your rights: if you trust this folder, add --allow-pipes"
            )
        whole = not utterance.piped and utterance.start == 0.0 and utterance.end is None
        where = Path(utterance.entry) if whole else Cut(utterance)
        target = output / "wav" / f"{name}.wav"
        items.append(Item(where, target, utterance.speaker, name))
        speakers[name] = utterance.speaker
    return KaldiFolder(source, output, items, speakers)


def read_utterances(folder: Path) -> list[Utterance]:
    """All utterances of a data folder, in the order of ``segments`` or ``wav.scp``.

    Raises:
        CorpusError: what is missing or does not agree.
    """
    recordings = _table(folder / "wav.scp")
    if not (folder / "utt2spk").is_file():
        raise CorpusError(f"{folder}/utt2spk: missing; voices are given per speaker")
    speakers = _table(folder / "utt2spk")
    sexes, texts = (
        _table(folder / name) if (folder / name).is_file() else {}
        for name in ("spk2gender", "text")
    )
    segments = _segments(folder / "segments") if (folder / "segments").is_file() else None
    if segments is None:
        segments = {name: (name, 0.0, None) for name in recordings}
    found = []
    for name, (recording, start, end) in segments.items():
        if recording not in recordings:
            raise CorpusError(f"{folder}/segments: {recording} of {name} is not in wav.scp")
        if name not in speakers:
            raise CorpusError(f"{folder}/utt2spk: no speaker for {name}; add a line")
        speaker, entry = speakers[name], recordings[recording]
        sex = sexes.get(speaker, "")
        found.append(Utterance(name, speaker, entry, start, end, sex, texts.get(name, "")))
    return found


def _bytes(text: str) -> bytes:
    """Kaldi sorts by bytes (LC_ALL=C)."""
    return text.encode("utf-8", "surrogateescape")


def _table(path: Path) -> dict[str, str]:
    rows: dict[str, str] = {}
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, _, value = line.strip().partition(" ")
        if not value.strip():
            raise CorpusError(f"{path}:{number}: expected a name and a value, found {line!r}")
        if name in rows:
            raise CorpusError(f"{path}:{number}: {name} stands here a second time; remove one line")
        rows[name] = value.strip()
    return rows


def _segments(path: Path) -> dict[str, tuple[str, float, float | None]]:
    segments: dict[str, tuple[str, float, float | None]] = {}
    for utterance, value in _table(path).items():
        try:
            recording, start_text, end_text = value.split()
            start, end = float(start_text), float(end_text)
        except ValueError:
            raise CorpusError(
                f"{path}: {utterance} needs a recording and two times in seconds, not {value!r}"
            ) from None
        if end == -1.0:  # Kaldi's "to the end"
            segments[utterance] = (recording, start, None)
        elif not 0.0 <= start < end:
            raise CorpusError(
                f"{path}: {utterance} must start before it ends, not {start} to {end}"
            )
        else:
            segments[utterance] = (recording, start, end)
    return segments


def _write(path: Path, rows: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{name} {rows[name]}\n" for name in sorted(rows, key=_bytes)]
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text("".join(lines), "utf-8", "surrogateescape")
    os.replace(temporary, path)


def _cut(utterance: Utterance, lenient: bool) -> BinaryIO:
    source: Path | io.BytesIO = Path(utterance.entry)
    if utterance.piped:
        command = utterance.entry.rstrip()[:-1]
        done = subprocess.run(command, shell=True, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[-1] if said else "no output"
            raise CorpusError(f"wav.scp: the command {shlex.quote(command)} failed: {reason}")
        source = io.BytesIO(done.stdout)
    return cut_out(
        source,
        utterance.name,
        utterance.start,
        utterance.end,
        lenient=lenient,
        label=utterance.entry,
        where="segments",
    )
