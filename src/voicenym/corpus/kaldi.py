"""Kaldi data folders: read ``wav.scp`` and its companions, write a valid folder of the output.

Recordings that ``segments`` cuts into utterances are cut here, so that every utterance gets the
voice of its own speaker and what lies between utterances (often other people) is left out.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from voicenym.audio import open_reader, open_writer
from voicenym.corpus.plan import Item
from voicenym.errors import CorpusError

COPIED = ("text", "spk2gender", "utt2lang", "utt2dur")
"""Files about utterances or speakers that hold for the anonymized folder too."""


@dataclass(frozen=True)
class KaldiFolder:
    """A data folder and what is to be made of it.

    Args:
        items: one for each utterance; those of a command or a segment read a file that
            :meth:`prepare` makes and :meth:`finish` removes.
    """

    source: Path
    output: Path
    items: list[Item]
    cuts: dict[Path, tuple[str, float, float | None]]
    speakers: dict[str, str]

    def prepare(self) -> None:
        """Cut segments and run commands into temporary files beside the output, mode 0600."""
        for path, (entry, start, end) in self.cuts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            _cut(entry, path, start, end)

    def finish(self, failed: set[str]) -> None:
        """Remove what :meth:`prepare` made and write the companions of the utterances there are."""
        for path in self.cuts:
            path.unlink(missing_ok=True)
        folders = {path.parent for path in self.cuts}
        for folder in folders:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
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
    recordings = _table(source / "wav.scp")
    if not (source / "utt2spk").is_file():
        raise CorpusError(f"{source}/utt2spk: missing; voices are given per speaker")
    speakers = _table(source / "utt2spk")
    segments = _segments(source / "segments") if (source / "segments").is_file() else None
    if segments is None:
        segments = {name: (name, 0.0, None) for name in recordings}
    items, cuts = [], {}
    for utterance, (recording, start, end) in segments.items():
        if recording not in recordings:
            raise CorpusError(f"{source}/segments: {recording} of {utterance} is not in wav.scp")
        if utterance not in speakers:
            raise CorpusError(f"{source}/utt2spk: no speaker for {utterance}; add a line")
        if "/" in utterance or utterance in (".", ".."):
            raise CorpusError(f"{source}/utt2spk: {utterance} cannot be a file name; rename it")
        entry = recordings[recording]
        piped = entry.rstrip().endswith("|")
        if piped and not allow_pipes:
            raise CorpusError(
                f"{source}/wav.scp: {recording} is a command ({entry[:60]}); commands run with "
                "your rights: if you trust this folder, add --allow-pipes"
            )
        target = output / "wav" / f"{utterance}.wav"
        path = Path(entry)
        if piped or (recording, start, end) != (utterance, 0.0, None):
            path = output / ".cut" / f"{utterance}.wav"
            cuts[path] = (entry, start, end)
        items.append(Item(path, target, speakers[utterance], utterance))
    return KaldiFolder(source, output, items, cuts, speakers)


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


def _cut(entry: str, target: Path, start: float, end: float | None) -> None:
    import io

    if entry.rstrip().endswith("|"):
        command = entry.rstrip()[:-1]
        done = subprocess.run(command, shell=True, capture_output=True, check=False)
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [
                "no output"
            ]
            raise CorpusError(f"wav.scp: the command {shlex.quote(command)} failed: {reason[0]}")
        source: Path | io.BytesIO = io.BytesIO(done.stdout)
    else:
        source = Path(entry)
    with open_reader(source) as reader:
        first = round(start * reader.rate)
        last = None if end is None else round(end * reader.rate)
        with open_writer(target, None, reader.rate, reader.channels, overwrite=True) as writer:
            for block in _between(reader.blocks(reader.rate * 10), first, last):
                writer.write(block)
    target.chmod(0o600)


def _between(blocks: Iterator, first: int, last: int | None) -> Iterator:
    """The samples from ``first`` up to ``last`` of blocks ``[channel, time]``."""
    position = 0
    for block in blocks:
        length = block.shape[1]
        low = max(0, first - position)
        high = length if last is None else min(length, last - position)
        if low < high:
            yield block[:, low:high]
        position += length
        if last is not None and position >= last:
            break
