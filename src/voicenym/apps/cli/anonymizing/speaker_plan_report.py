"""What ``voicenym anonymize --rttm`` does to a recording, for the terminal and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.batch_report import Messages
    from voicenym.corpus.people.several_speakers import SpeakerPlan
    from voicenym.diarization.speaker_turns import Diarization
    from voicenym.diarization.treatments import Choice


@dataclass(frozen=True)
class SpeakerPlanReport:
    """What happens to each part of a recording, to be shown.

    Args:
        plan: treatments of the parts.
        turns: who speaks when.
        people: who is hidden, and who kept.
    """

    plan: SpeakerPlan
    turns: Diarization
    people: Choice

    def tell(self, stored: bool, say: Messages, dry_run: bool) -> None:
        """Prints the seconds of each treatment and whose voices are whose; a dry run, the timeline.

        Args:
            stored: whether the key is.
            say: the user's messages.
            dry_run: whether timeline and seconds are the result, and go to standard output.
        """
        from voicenym.diarization.formats.timeline import draw
        from voicenym.diarization.formats.turn_names import is_named

        if dry_run:
            for line in draw(self._rows(), self.duration):
                typer.echo(line)
            typer.echo("= kept   # hidden   _ silenced   . nothing")
        for line, seconds in self._totals():
            (typer.echo if dry_run else say)(f"{seconds:9.1f} s  {line}")
        for person in sorted(self.people.hidden):
            if not is_named(person):
                say(
                    f"{person}: a label that names nobody, so that its voice is of this recording "
                    f"alone; for the same voice in others: --name {person}=NAME"
                )
            elif stored:
                say(f"{person}: has the voice that the key gives {person} in every recording")

    def page(self, title: str) -> str:
        """The timeline as HTML.

        Args:
            title: of the page.
        """
        from voicenym.diarization.formats.timeline_html import page

        return page(title, self._rows(), self.duration, self._totals())

    @property
    def duration(self) -> float:
        """Seconds of the recording."""
        return self.plan.frames / self.plan.rate

    def _totals(self) -> list[tuple[str, float]]:
        words = {"hide": "hidden", "keep": "kept", "silence": "silenced"}
        return [
            (
                f"{words[treatment]}: {person}, {why}" if person else f"{words[treatment]}: {why}",
                value,
            )
            for (treatment, person, why), value in self.plan.seconds().items()
        ]

    def _rows(self) -> list[Any]:
        """A row of the timeline for each person's turns, and one for the output."""
        from voicenym.diarization.formats.timeline import HIDDEN, KEPT, SILENCED, SPEECH, Row, Span

        kinds = {"hide": HIDDEN, "keep": KEPT, "silence": SILENCED}
        rows = []
        for person in self.turns.speakers:
            kind = (
                HIDDEN
                if person in self.people.hidden
                else KEPT
                if person in self.people.kept
                else SPEECH
            )
            own = [Span(t.start, t.end, kind) for t in self.turns.turns if t.speaker == person]
            rows.append(Row(person, own))
        rate = self.plan.rate
        parts = [
            Span(part.start / rate, part.end / rate, kinds[part.treatment], part.reason.value)
            for part in self.plan.parts
        ]
        return [*rows, Row("(output)", parts)]
