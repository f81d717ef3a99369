"""Verification of the files of an anonymized corpus, each against its log and its original.

A file is published only if it can be read to its end, holds nothing but sound, is what the log of
``voicenym anonymize`` says, and is not nearly its original (law 8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicenym.anonymizer import Anonymizer, load
from voicenym.corpus.batches.single_file import sha256_of
from voicenym.corpus.nearness.stored_nearness import nearness
from voicenym.corpus.recording import Recording
from voicenym.corpus.run_records.line_table import Line
from voicenym.errors import AudioError, CorpusError, VoicenymError
from voicenym.publication.compared_sound import Sound, sound
from voicenym.publication.embedded_metadata import embedded

MOST_TEMPO = 2.0
"""Largest ratio of the durations of an output and its original, either way."""
MOST_DECIBELS = 6.0
"""Largest difference of the levels of an output and its original."""
QUIETEST = -80.0
"""Level in dBFS below which a recording counts as silent."""


@dataclass(frozen=True)
class Verified:
    """A file that may be published.

    Args:
        recording: of the corpus.
        sha256: of the file.
        size: in bytes.
        seconds, rate, channels: of its sound.
        level: root mean square in dB below full scale.
        logged: whether the log has this file with this SHA-256.
        compared: whether it was compared with its original here.
        level_change, tempo: against the original; None if there is none.
    """

    recording: Recording
    sha256: str
    size: int
    seconds: float
    rate: int
    channels: int
    level: float
    logged: bool
    compared: bool
    level_change: float | None = None
    tempo: float | None = None


def verify(
    recordings: Sequence[Recording],
    lines: Mapping[Path, Line],
    originals: Mapping[str, Recording],
    say: Callable[[int], None] = lambda done: None,
) -> list[Verified]:
    """Verifies all files of a corpus.

    Args:
        recordings: of the corpus.
        lines: of the log of ``voicenym anonymize``, by the output's resolved path.
        originals: by the name of the recording in ``recordings``; may be empty.
        say: called with 1 for each file.

    Raises:
        CorpusError: files that must not be published; it names the first ones, each with its
            reason.
    """
    found, faults = [], []
    inputs = {sha256_of(one.path) for one in originals.values() if one.path.is_file()}
    for recording in recordings:
        try:
            line = lines.get(recording.path.resolve())
            one = verified(recording, line, originals.get(recording.name))
            if one.sha256 in inputs:
                raise AudioError(f"{recording.path}: is itself one of the originals; anonymize it")
            found.append(one)
        except VoicenymError as error:
            faults.append(str(error))
        say(1)
    if faults:
        rest = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise CorpusError(
            f"{faults[0]}{rest}; {len(faults)} of {len(recordings)} files must not be published, "
            "so nothing is written"
        )
    return found


def verified(recording: Recording, line: Line | None, original: Recording | None) -> Verified:
    """Verifies one file.

    Args:
        recording: of the anonymized corpus.
        line: of it in the log, if any.
        original: of it, if known.

    Raises:
        AudioError: the file cannot be read or must not be published; the message says why.
    """
    path = recording.path
    if recording.start or recording.end is not None:
        raise AudioError(
            f"{path}: {recording.name} is a part of it; give a corpus with a file for each "
            "utterance, as voicenym anonymize writes for Kaldi's segments"
        )
    out = sound(recording)
    if kept := embedded(path):
        raise AudioError(
            f"{path}: holds more than sound ({'; '.join(kept)[:200]}); voicenym anonymize "
            "drops it, as does a copy by ffmpeg -map 0:a -map_metadata -1"
        )
    digest = sha256_of(path)
    logged = line is not None and line.get("sha256") == digest
    if line is not None and not logged:
        raise AudioError(
            f"{path}: was changed since it was anonymized (its SHA-256 is not that of the log); "
            "restore it, or anonymize it again"
        )
    if line is None and original is None:
        raise AudioError(
            f"{path}: nothing shows that it was anonymized: the corpus has no voicenym.jsonl with "
            "it, and there is no original to compare; give --original"
        )
    if out.level < QUIETEST and original is None:
        raise AudioError(f"{path}: is silent; take it out of the corpus")
    change = tempo = None
    if original is not None:
        change, tempo = _against(recording, out, line, original)
    return Verified(
        recording, digest, path.stat().st_size, out.seconds, out.rate, out.channels,
        out.level, logged, original is not None, change, tempo,
    )  # fmt: skip


def _against(
    recording: Recording, out: Sound, line: Line | None, original: Recording
) -> tuple[float, float]:
    """Change of level in dB, and ratio of durations; raises if the output is nearly the input."""
    path = recording.path
    before = sound(original, out)
    tempo = out.seconds / before.seconds
    if not 1 / MOST_TEMPO <= tempo <= MOST_TEMPO:
        raise AudioError(
            f"{path}: has {out.seconds:.2f} s, its original {before.seconds:.2f} s; they are not "
            "of one recording, or a part is missing: check the names, or anonymize it again"
        )
    change = out.level - before.level
    silent = out.level < QUIETEST and before.level >= QUIETEST
    if silent or (out.level >= QUIETEST and abs(change) > MOST_DECIBELS):
        raise AudioError(
            f"{path}: its level is {out.level:.1f} dBFS and that of its original "
            f"{before.level:.1f}; anonymize it again, or take it out of the corpus"
        )
    if how := nearness(before, out, _system(line)):
        raise AudioError(
            f"{path}: is nearly its original ({how}); it must be anonymized, or anonymized again "
            "with another key or system"
        )
    return change, tempo


def _system(line: Line | None) -> Anonymizer | None:
    """System that made an output, by its line in the log; None if it is not known here."""
    if line is None:
        return None
    made = line.get("fallback") or line
    try:
        return load(str(made["system"]), **dict(made.get("parameters") or {}))
    except (VoicenymError, KeyError, TypeError, ValueError):
        return None
