"""``voicenym anonymize --preview``: some seconds of the first recording, to hear the voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.errors import UnknownSystemError, VoicenymError

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.corpus.batches.fallback import Fallback
    from voicenym.corpus.plans.file_plan import Item
    from voicenym.pseudonym import Key

SEARCHED = 600.0
"""Seconds at the beginning of a recording in which the first sound is looked for."""
BEFORE = 0.2
"""Seconds before the first sound."""
MOST = 600.0
"""Longest preview in seconds: a longer one is a run."""


def check_preview(given: str | None, stored: bool, otherwise: bool) -> float | None:
    """Seconds of the preview; None without one.

    Args:
        given: the option's value.
        stored: whether the key is stored.
        otherwise: whether options are given that a preview has no use for.

    Raises:
        VoicenymError: no such duration, a fresh key, or such options.
    """
    if given is None:
        return None
    from voicenym.training.run.resources import duration

    try:
        seconds = duration(given)
    except ValueError:
        raise VoicenymError(f"--preview {given}: give a time such as 10s") from None
    if seconds > MOST:
        raise VoicenymError(f"--preview {given}: {MOST:.0f} s at most")
    if otherwise:
        raise UnknownSystemError(
            "--preview is for files and folders, without --rttm, --rename and --dry-run"
        )
    if not stored:
        raise VoicenymError(
            "--preview needs a key (--key FILE; voicenym key new FILE): a fresh one is forgotten, "
            "and the long run would have another voice"
        )
    return seconds


def write_preview(
    anonymizer: Anonymizer,
    key: Key,
    items: Sequence[Item],
    seconds: float,
    output: Path | None,
    folder: Path | None,
    *,
    per_utterance: bool,
    overwrite: bool,
    lenient: bool,
    other: Fallback | None,
    say: Messages,
) -> None:
    """Anonymizes the beginning of the first recording, from its first sound on, as the run would.

    Args:
        anonymizer: the system.
        key: of the run.
        items: recordings of the run.
        seconds: of the preview.
        output: file; by default NAME.preview.EXT beside the recording.
        folder: of the run's outputs, if it has one; the preview is FOLDER.preview.EXT beside it
            then, because the next run would take one among the originals for a recording.
        per_utterance, overwrite, lenient, other, say: of the run.

    Raises:
        VoicenymError: no recording; the recording cannot be read, or the preview not written.
    """
    from voicenym.anonymizer import load
    from voicenym.audio.container_files.containers import output_suffix
    from voicenym.corpus.batches.single_file import anonymize_file
    from voicenym.corpus.excerpt import cut_out

    if not items:
        raise VoicenymError("--preview: there is no recording to preview")
    item = items[0]
    source = item.source if isinstance(item.source, Path) else None
    if source is None:
        raise VoicenymError("--preview needs a recording that is a file; give one of the data set")
    ending = f".preview{output_suffix(source.suffix)}"
    target = output or source.with_name(f"{source.stem}{ending}")
    if folder is not None:
        named = folder if folder.name not in ("", "..") else folder.resolve()
        target = named.with_name(f"{named.name}{ending}")
    if target.suffix.lower() == source.suffix.lower() and target.resolve() == source.resolve():
        raise VoicenymError(f"{target}: is the recording itself; choose another name with -o")
    start, end = _span(source, seconds, lenient)
    excerpt = cut_out(source, "the preview", start, end, lenient=lenient)
    fallback = None if other is None else load(other.system, **other.parameters)
    result = anonymize_file(
        anonymizer,
        key.pseudonym(item.speaker, item.utterance if per_utterance else None),
        excerpt,
        target,
        name=str(source),
        overwrite=overwrite,
        lenient=True,  # an excerpt may be short or quiet where the whole is not
        fallback=fallback,
    )
    for warning in result.warnings:
        say.warn(warning)
    if result.refusal is not None and other is not None:
        say.warn(f"{source}: {result.refusal.reason}; {other.system} made the preview")
    more = f" of {len(items)} recordings" if len(items) > 1 else ""
    say(
        f"{target}: {end - start:.1f} s of the first{more}, in the voice of the run; nothing else "
        "was written. Another voice: --voice-like 1, 2 ..."
    )


def _span(source: Path, seconds: float, lenient: bool) -> tuple[float, float]:
    """Start and end of the preview: from the first loud frame on."""
    import torch

    from voicenym.audio import open_reader
    from voicenym.dsp.speech_activity import loud_frames

    with open_reader(source, lenient=lenient) as reader:
        rate, frame = reader.rate, max(1, reader.rate // 50)
        parts, found = [], 0
        for block in reader.blocks(rate * 10):
            parts.append(torch.from_numpy(block).abs().amax(0))
            found += block.shape[1]
            if found >= SEARCHED * rate:
                break
    signal = torch.cat([torch.zeros(0), *parts])
    loud = loud_frames(signal, frame).nonzero()
    first = int(loud[0, 0]) * frame / rate if len(loud) else 0.0
    start = max(0.0, first - BEFORE)
    # where all of it was read, the end is known; else there is more than a preview needs
    whole = found < SEARCHED * rate
    end = start + seconds
    return start, min(end, found / rate) if whole else end
