"""Preparation of speech for training: rendering, the speech cache, and the data's card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.corpus.recording import RATE
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.corpus.workers.cpu_count import cores
from voicenym.errors import CorpusError, VoicenymError
from voicenym.private import private_folder
from voicenym.pseudonym import Key
from voicenym.training.speech.speech_cache import Rendering, SpeechCache, Utterance

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.training.run.progress_report import Report

PROGRESS = 500
"""Number of recordings between lines of progress."""


def check_disjoint(train: Sequence[Recording], test: Sequence[Recording]) -> None:
    """Check that no speaker of the test recordings is in the training data.

    Raises:
        CorpusError: a speaker is in both.
    """
    shared = sorted({r.speaker for r in train} & {r.speaker for r in test})
    if shared:
        raise CorpusError(
            f"speaker {shared[0]} is both in the data and in the test ({len(shared)} such); test "
            "on others"
        )


def source_name(source: Path, split: str | None, corpora: Sequence[str]) -> str:
    """The name of a source of recordings, with its split and corpora."""
    return " ".join([source.name, *([split] if split else []), *corpora])


def data_card(
    recordings: Sequence[Recording | Utterance],
    sources: Sequence[Path],
    split: str | None,
    corpora: Sequence[str],
) -> dict[str, object]:
    """A card's entries on the training data: sources and amount.

    Args:
        recordings: of the training.
        sources, split, corpora: as given for the data.
    """
    return {
        "data": ", ".join(source_name(source, split, corpora) for source in sources),
        "speakers": len({recording.speaker for recording in recordings}),
        "recordings": len(recordings),
    }


def rendering(system: str | None, per: str, folder: Path) -> Rendering:
    """Reads recordings as they are, or anonymizes them as an attacker does.

    Args:
        system: its name, with settings as of ``voicenym evaluate --system``; None for the original
            speech.
        per: ``speaker`` or ``utterance``, of the voices.
        folder: of the key, which the first run creates and resumed runs reuse.

    Raises:
        VoicenymError: no such system or setting, a delay that changes nothing, or another ``per``.
    """
    from voicenym.anonymizer import load
    from voicenym.anonymizer.live_delay import check_delay_is_used
    from voicenym.anonymizer.system_settings import parsed

    if per not in ("speaker", "utterance"):
        raise VoicenymError(f"--per is speaker or utterance, not {per!r}")
    if system is None:
        return ORIGINAL
    name, settings = parsed(system)
    check_delay_is_used(load(name, **settings))
    path = folder / "attacker.key"
    if not path.exists():
        private_folder(folder)
        Key.generate().save(path)
    return Transform((Anonymize(name, Key.load(path), per, tuple(sorted(settings.items()))),))


def cached(
    folder: Path, recordings: Sequence[Recording], how: Rendering, report: Report
) -> list[Utterance]:
    """Utterances in the speech cache of a folder; recordings that fail are left out."""
    found = _in_places(folder, recordings, how, report)
    return [utterance for utterance in found if utterance is not None]


def prepared(
    folder: Path,
    train: Sequence[Recording],
    held_out: Sequence[Recording],
    report: Report,
    how: Rendering | None = None,
) -> tuple[list[Utterance], list[Utterance]]:
    """Utterances to train on and held-out ones, in the speech cache of a folder.

    Args:
        folder: of the cache.
        train, held_out: recordings; those that fail are left out.
        report: of the run.
        how: rendering of the recordings; None for the original speech.

    Raises:
        CorpusError: all recordings of one part fail.
    """
    utterances = _in_places(folder, [*train, *held_out], how or ORIGINAL, report)
    count = len(train)
    training = [one for one in utterances[:count] if one is not None]
    watched = [one for one in utterances[count:] if one is not None]
    for wanted, found, what in ((train, training, "train on"), (held_out, watched, "hold out")):
        if wanted and not found:
            raise CorpusError(f"of {len(wanted)} recordings to {what} none can be used; give more")
    return training, watched


def progress(count: int, what: str, say: Callable[[str], None]) -> Callable[[int], None]:
    """A counter of finished recordings that reports every :data:`PROGRESS` of them.

    Args:
        count: of all recordings.
        what: participle for the line, such as "decoded".
        say: receives the lines.
    """
    done = 0

    def add(more: int) -> None:
        nonlocal done
        before, done = done, done + more
        if before // PROGRESS != done // PROGRESS:
            say(f"{done} of {count} recordings {what}")

    return add


def _in_places(
    folder: Path, recordings: Sequence[Recording], how: Rendering, report: Report
) -> list[Utterance | None]:
    """An utterance of each recording; None where it fails."""
    counter = progress(len(recordings), "prepared", report.say)
    cache = SpeechCache(folder)
    return cache.in_places(recordings, how, cores(), counter, report.skipped)


def hours(utterances: Sequence[Utterance]) -> float:
    """Duration of utterances in hours, to two places."""
    return round(sum(utterance.length for utterance in utterances) / (3_600 * RATE), 2)
