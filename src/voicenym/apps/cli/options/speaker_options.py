"""Options about the people in a recording, of ``voicenym anonymize`` and ``voicenym speakers``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from voicenym.errors import DiarizationError

if TYPE_CHECKING:
    from voicenym.diarization.speaker_turns import Diarization
    from voicenym.diarization.treatments import Choice

PANEL = "Several speakers"

NAME = typer.Option(
    [],
    "--name",
    metavar="LABEL=NAME",
    rich_help_panel=PANEL,
    help="Name of the speaker with a label, as in speaker-1=anna; may be repeated.",
)
RTTM = typer.Option(
    None,
    "--rttm",
    metavar="FILE",
    rich_help_panel=PANEL,
    help=(
        "Turns of the speakers (.rttm, .TextGrid, .vtt, .txt of Audacity), as voicenym speakers "
        "writes them: people are hidden one by one, each in a voice of their own."
    ),
)
ONLY = typer.Option(
    [],
    "--only",
    metavar="LABEL",
    rich_help_panel=PANEL,
    help="With --rttm: hide this speaker, and none but those named so; may be repeated.",
)
KEEP = typer.Option(
    [],
    "--keep",
    metavar="NAME",
    rich_help_panel=PANEL,
    help=(
        "With --rttm: do not hide this speaker. Of a data set: also copy this table or field, such "
        "as text. May be repeated."
    ),
)
UNSURE = typer.Option(
    None,
    "--unsure",
    metavar="hide|keep|silence",
    rich_help_panel=PANEL,
    help=(
        "With --rttm: what happens to borders of hidden turns, speech in nobody's turn, and turns "
        "of low confidence; hide unless given."
    ),
)
TIMELINE = typer.Option(
    None,
    "--timeline",
    metavar="FILE.html",
    rich_help_panel=PANEL,
    help="With --rttm: draw what happens when to this file; with --dry-run, too.",
)


@dataclass(frozen=True)
class SpeakerOptions:
    """Options of the command about the people in a recording.

    Args:
        rttm: file of their turns; None if the recording is not treated by people.
        only, keep: labels.
        unsure: what happens to what is uncertain.
        names: ``LABEL=NAME``.
        timeline: HTML file to draw.
    """

    rttm: Path | None
    only: Sequence[str]
    keep: Sequence[str]
    unsure: str | None
    names: Sequence[str]
    timeline: Path | None

    def check(self, inputs: Sequence[str], whole: bool) -> None:
        """Refuses options that do not go together.

        Args:
            inputs: of the command.
            whole: whether options about speakers of whole files, or about names, are given.

        Raises:
            DiarizationError: with the option to leave out.
        """
        if self.rttm is None:
            given = {
                "--only": self.only,
                "--unsure": self.unsure,
                "--name": self.names,
                "--timeline": self.timeline,
            }
            for option, value in given.items():
                if value:
                    raise DiarizationError(
                        f"{option} is about people in a recording: add --rttm FILE with their "
                        "turns, which voicenym speakers finds"
                    )
            return
        if len(inputs) != 1 or inputs[0] == "-" or Path(inputs[0]).is_dir():
            raise DiarizationError(
                f"{self.rttm}: turns belong to one recording; give one file with --rttm"
            )
        if whole:
            raise DiarizationError(
                "--rttm names the speakers of one recording; leave out --speaker, "
                "--speaker-level, --per, --rename, --mapping and --show-names"
            )
        if self.timeline is not None and self.timeline.suffix.lower() not in (".html", ".htm"):
            raise DiarizationError(f"{self.timeline}: a timeline is HTML; end its name in .html")

    def chosen(self, source: Path) -> tuple[Diarization, Choice]:
        """The turns with their people's names, and who is hidden and who kept.

        Args:
            source: the recording.

        Raises:
            DiarizationError: turns, labels or a treatment that cannot be used.
            CorpusError: names in another encoding than the locale's.
        """
        from voicenym.corpus.readers.name_encoding import check_encoding
        from voicenym.diarization.formats.turn_files import read_turns
        from voicenym.diarization.formats.turn_names import names_of, renamed
        from voicenym.diarization.treatments import Treatment, choice

        assert self.rttm is not None
        unsure = self.unsure or Treatment.HIDE.value
        if unsure not in [one.value for one in Treatment]:
            raise DiarizationError(f"--unsure is hide, keep or silence, not {unsure!r}")
        check_encoding(self.names)
        found = renamed(read_turns(self.rttm, source.stem), names_of(self.names))
        return found, choice(found, self.only, self.keep, Treatment(unsure))
