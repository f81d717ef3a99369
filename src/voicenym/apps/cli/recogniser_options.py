"""Recognisers and transcripts of an evaluation, from the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.recognition import Recogniser, Transcripts


def recogniser_of(name: str, weights: str | None, sentences: list[str]) -> Recogniser | None:
    """A recogniser by name for given sentences; None without a name or sentences.

    Args:
        name: ``sphinx``, ``whisper``, ...; ``none`` for none.
        weights: a folder, or a name on the hub.
        sentences: texts of the recordings.

    Raises:
        VoicenymError: no such recogniser.
    """
    if name == "none" or not sentences:
        return None
    from voicenym.metrics import normalise
    from voicenym.recognition import recogniser

    options: dict[str, Any] = {"weights": weights} if weights else {}
    if name == "sphinx":
        # Its model of free text fails on most speakers, anonymized or not; a choice among what is
        # said tells systems apart.
        options["phrases"] = sorted({normalise(sentence) for sentence in sentences})
    return recogniser(name, **options)


def retrained_of(given: list[str], systems: list[str]) -> dict[str, Recogniser]:
    """Recognisers trained on systems' output, from ``SYSTEM=FOLDER``.

    Raises:
        VoicenymError: another system, or a recogniser of another's.
    """
    from voicenym.recognition import of_folder

    found: dict[str, Recogniser] = {}
    for system, path in _pairs("--recogniser-anonymized", "FOLDER", given, systems):
        trained = of_folder(path)
        if trained.anonymized_by != system:
            speech = f"output of {trained.anonymized_by}" if trained.anonymized_by else "originals"
            raise VoicenymError(
                f"{path}: was trained on {speech}, not on output of {system}; train one with "
                f"voicenym train hybrid or train recogniser and --system {system}"
            )
        found[system] = trained
    return found


def transcripts_of(given: list[str], systems: list[str]) -> dict[str, Transcripts]:
    """Transcripts by other recognisers, from ``SYSTEM=FILE``.

    Raises:
        VoicenymError: another system, or no transcripts there.
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
