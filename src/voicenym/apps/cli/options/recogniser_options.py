"""Recognisers and transcripts of an evaluation, from the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.recognition import PhoneRecogniser, Recogniser, Transcripts

WHISPER = "whisper"
SMALL_PHONES = "small"


def recogniser_of(
    name: str | None, weights: str | None, sentences: list[str], cache: Path | None = None
) -> Recogniser | None:
    """A recogniser by name, which does not know the sentences; None without one.

    Args:
        name: ``whisper``, ``sphinx``, ...; ``none`` for none; None for Whisper, if weights of it
            are given or were pulled.
        weights: a folder, or a name on the hub.
        sentences: texts of the recordings; without any, there is nothing to recognise.
        cache: file of Whisper's transcripts.

    Raises:
        VoicenymError: no such recogniser, or one that is asked for without texts.
    """
    if name == "none":
        return None
    from voicenym.recognition import RECOGNISERS, recogniser

    if name is not None:
        RECOGNISERS.get(name.partition(":")[0])
    if not sentences:
        if name is not None or weights is not None:
            raise VoicenymError(
                "--recogniser and --recogniser-weights: no recording has a text to compare with; "
                "give a corpus with texts (text of a Kaldi data folder, column text of a "
                "manifest), or leave them out"
            )
        return None

    if name is None:
        from voicenym.recognition.whisper_recogniser import at_hand

        weights = weights or at_hand()
        if not weights:
            return None
        name = WHISPER
    options: dict[str, Any] = {"weights": weights} if weights else {}
    found = recogniser(name, **options)
    if name == WHISPER and cache is not None:
        from voicenym.recognition.transcript_cache import CachedRecogniser

        return CachedRecogniser(found, cache)
    return found


def phones_of(given: str) -> PhoneRecogniser | None:
    """The recogniser of phones.

    Args:
        given: ``small`` for the bundled one, ``none`` for none, or a folder of ``voicenym train
            hybrid``.

    Raises:
        VoicenymError: another folder.
    """
    if given == "none":
        return None
    from voicenym.recognition.phones.phone_recogniser import FramePhones

    return FramePhones() if given == SMALL_PHONES else FramePhones(given)


def named(recogniser: Recogniser | None, phones: PhoneRecogniser | None) -> str:
    """Text on the recognisers, for the line of an evaluation's settings."""
    words = f", words by {recogniser.name}" if recogniser is not None else ""
    return words + (f", phones by {phones.name}" if phones is not None else "")


def retrained_of(given: list[str], systems: list[str]) -> dict[str, Recogniser]:
    """Recognisers trained on systems' output, from ``SYSTEM=FOLDER``.

    Raises:
        VoicenymError: a system that is not evaluated, or a recogniser of another system.
    """
    from voicenym.recognition import of_folder

    found: dict[str, Recogniser] = {}
    for system, path in _pairs("--recogniser-anonymized", "FOLDER", given, systems):
        trained = of_folder(path)
        if trained.anonymized_by != system:
            speech = f"output of {trained.anonymized_by}" if trained.anonymized_by else "originals"
            raise VoicenymError(
                f"{path}: was trained on {speech}, not on output of {system}; train one with "
                f"voicenym train whisper, hybrid or recogniser and --system {system}"
            )
        found[system] = trained
    return found


def transcripts_of(given: list[str], systems: list[str]) -> dict[str, Transcripts]:
    """Transcripts by other recognisers, from ``SYSTEM=FILE``.

    Raises:
        VoicenymError: a system that is not evaluated, or no transcripts.
    """
    from voicenym.recognition import read_transcripts

    pairs = _pairs("--transcripts", "FILE", given, systems)
    return {system: read_transcripts(path) for system, path in pairs}


def _pairs(
    option: str, what: str, given: list[str], systems: list[str]
) -> Iterator[tuple[str, str]]:
    for pair in given:
        system = max((name for name in systems if pair.startswith(f"{name}=")), key=len, default="")
        path = pair[len(system) + 1 :]
        if not system or not path:
            raise VoicenymError(
                f"{option} {pair}: give SYSTEM={what}, SYSTEM being one of {', '.join(systems)}"
            )
        yield system, path
