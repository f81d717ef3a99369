"""Options about words, of ``transcribe``, ``redact`` and ``anonymize --redact``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.errors import RedactionError

if TYPE_CHECKING:
    from voicenym.redaction.redaction_settings import RedactionSettings

PANEL = "Words"

RECOGNISER = typer.Option(
    None,
    "--recogniser",
    metavar="NAME",
    rich_help_panel=PANEL,
    help=(
        "Whisper with times of words: a name of voicenym models list, a folder of CTranslate2 as "
        "./FOLDER, or owner/name of the hub, fetched before. Default: the largest that was pulled."
    ),
)
LANGUAGE = typer.Option(
    None,
    "--language",
    metavar="CODE",
    rich_help_panel=PANEL,
    help="Language of the speech, such as en; detected unless given.",
)
WORDS = typer.Option(
    [],
    "--words",
    metavar="CATEGORIES",
    rich_help_panel=PANEL,
    help="What is removed: names, places, numbers, dates, addresses, or all; with commas.",
)
REDACT = typer.Option(
    [],
    "--redact",
    metavar="CATEGORIES",
    rich_help_panel=PANEL,
    help=(
        "Silence spoken names, places, numbers, dates, addresses, or all, with commas, and write "
        "the transcript without them; nothing is written where that fails."
    ),
)
LIST = typer.Option(
    None,
    "--list",
    metavar="FILE",
    rich_help_panel=PANEL,
    help="Words and phrases of your own to remove, one a line.",
)
ON_MISS = typer.Option(
    "stop",
    "--on-miss",
    metavar="stop|sentence",
    rich_help_panel=PANEL,
    help="Words that cannot be placed in time stop the file, or their sentences are removed.",
)
ENTITIES = typer.Option(
    None,
    "--entities",
    metavar="MODEL",
    rich_help_panel=PANEL,
    help=(
        "spaCy model that finds names and places, installed or as ./FOLDER, or rules for none. "
        "Default: the largest installed, else rules (English)."
    ),
)
LEAST_CONFIDENCE = 0.4
LEAST = typer.Option(
    LEAST_CONFIDENCE,
    "--least-confidence",
    metavar="NUMBER",
    min=0.0,
    max=1.0,
    rich_help_panel=PANEL,
    help="Findings of less confidence are kept.",
)
SYNTHESISER = typer.Option(
    None,
    "--synthesiser",
    metavar="NAME",
    rich_help_panel=PANEL,
    help=(
        "With --by word: Kokoro or a voice of Piper that speaks, a name that was pulled, or "
        "./NAME.onnx. Default: that of asr-tts."
    ),
)
BY = typer.Option(
    "silence",
    "--by",
    metavar="silence|word",
    rich_help_panel=PANEL,
    help="What stands for removed words: silence, or spoken words of the same class (English).",
)
UNHEARD = typer.Option(
    "keep",
    "--unheard",
    metavar="keep|silence",
    rich_help_panel=PANEL,
    help="What happens to speech of which no word was recognised.",
)


@dataclass(frozen=True)
class RedactOptions:
    """Options of ``anonymize --redact`` as given."""

    redact: Sequence[str]
    own: Path | None
    recogniser: str | None
    on_miss: str
    entities: str | None
    least: float
    unheard: str
    by: str = "silence"
    synthesiser: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether words are to be removed."""
        return bool(self.redact) or self.own is not None

    def check(self, inputs: Sequence[str]) -> None:
        """Refuses options that do not go together.

        Args:
            inputs: of the command.

        Raises:
            RedactionError: with what to do instead.
        """
        if not self.wanted:
            about_words = self.recogniser or self.entities or self.synthesiser
            chosen = (self.on_miss, self.by, self.unheard, self.least)
            if about_words or chosen != ("stop", "silence", "keep", LEAST_CONFIDENCE):
                raise RedactionError(
                    "--recogniser, --entities, --on-miss, --by, --synthesiser, --unheard and "
                    "--least-confidence are about words to remove; add --redact names, or --list "
                    "FILE"
                )
            return
        if self.by not in ("silence", "word"):
            raise RedactionError(
                f"--by is silence or word with anonymize, not {self.by!r}; a beep would pass "
                "through the system: voicenym redact FILE --by beep writes one"
            )
        if "-" in inputs:
            raise RedactionError(
                "--redact and --list are for files and folders, and not for -; remove the words "
                "first: voicenym redact FILE -o FILE"
            )

    def settings(self, language: str | None) -> RedactionSettings:
        """What is removed, and how.

        Raises:
            RedactionError: a value that is none.
            VoicenymError: a list or a model that cannot be read.
        """
        from voicenym.redaction.redaction_settings import settings_of

        return settings_of(
            self.redact, self.own, self.recogniser, language, on_miss=self.on_miss,
            entities=self.entities, least=self.least, unheard=self.unheard, way=self.by,
            synthesiser=self.synthesiser, plain="silence",
        )  # fmt: skip


def removed_in_words(log: Mapping[str, Any]) -> str:
    """Sentence on what was removed, without a word of it.

    Args:
        log: of :meth:`voicenym.redaction.removal.Removal.log`.
    """
    counted = ", ".join(f"{count} {name}" for name, count in log["findings"].items())
    more = log["found_again"]
    again = f", {more} of them by hearing the result" if more else ""
    return f"removed: {counted or 'nothing'}{again}; {log['seconds']:.1f} s"
