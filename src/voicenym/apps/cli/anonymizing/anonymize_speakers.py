"""``voicenym anonymize --rttm``: the chosen people of one recording."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from voicenym.apps.cli.anonymizing.batch_report import Messages, fallback_sentence
from voicenym.apps.cli.options.word_options import removed_in_words
from voicenym.apps.cli.terminal.interrupted_work import PART, parts_before, until_done
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import DiarizationError

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem
    from voicenym.corpus.people.several_speakers import SpeakerPlan
    from voicenym.corpus.sound_edits import SoundEdit
    from voicenym.diarization.speaker_turns import Diarization
    from voicenym.diarization.treatments import Choice
    from voicenym.redaction.redaction_settings import RedactionSettings


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


def anonymize_speakers(
    system: RunSystem,
    options: RunOptions,
    source: Path,
    output: Path | None,
    people: SpeakerOptions,
    edit: RedactionSettings | None,
) -> None:
    """Anonymizes the chosen people of a recording, or draws what would happen.

    Words that ``edit`` removes are removed whoever says them, because others say the names of who
    is hidden.

    Args:
        system, options: of the run.
        source: the recording.
        output: file to write to; by default NAME.anon.EXT beside the recording.
        people: who is hidden, and who kept.
        edit: words to remove; None for none.

    Raises:
        VoicenymError: turns, options or places that cannot be used; nothing is written then.
    """
    import torch

    from voicenym.corpus.people import several_speakers
    from voicenym.corpus.plans import file_plan
    from voicenym.diarization.formats.turn_files import read_turns, write_text
    from voicenym.diarization.formats.turn_names import names_of, renamed
    from voicenym.diarization.treatments import Treatment, choice

    assert people.rttm is not None
    torch.set_num_threads(1)  # the same bits on any machine
    unsure = people.unsure or Treatment.HIDE.value
    if unsure not in [one.value for one in Treatment]:
        raise DiarizationError(f"--unsure is hide, keep or silence, not {unsure!r}")
    found = renamed(read_turns(people.rttm, source.stem), names_of(people.names))
    who = choice(found, people.only, people.keep, Treatment(unsure))
    (item,) = file_plan.plan([source], output, None, None)
    say, timeline = options.say, people.timeline
    if not options.dry_run:
        file_plan.check_distinct([item])
        _check_places(source, item.target, timeline, edit is not None, options.overwrite)
    with Progress(say.quiet) as stage:
        stage("reading the recording, finding speech")
        what = several_speakers.plan_speakers(
            source, people.rttm, found, who, lenient=options.lenient
        )
    report(what, found, who, system.stored, say, options.dry_run)
    drawn = None if timeline is None else (timeline, _page(what, found, who, source))
    if options.dry_run:
        if drawn is not None:
            write_text(*drawn, options.overwrite)
            say(f"wrote {timeline}")
        if edit is not None:
            say("words to remove are not looked for in a dry run: voicenym redact lists them")
        say("nothing else was written" if drawn else "nothing was written")
        return
    refused = _write(system, options, source, item.target, what, sorted(who.hidden), edit, drawn)
    voices = {piece.voice for piece in what.pieces() if piece.voice is not None}
    system.conclude(say, len(voices), refused, "voices")


def _write(
    system: RunSystem,
    options: RunOptions,
    source: Path,
    target: Path,
    what: SpeakerPlan,
    hidden: Sequence[str],
    edit: RedactionSettings | None,
    drawn: tuple[Path, str] | None,
) -> int:
    """Writes the output with its timeline, transcript and log, all of them or none.

    Args:
        system, options: of the run.
        source, target: the recording and its output.
        what: happens to its parts.
        hidden: people with a pseudonym.
        edit: words to remove; None for none.
        drawn: file and text of the timeline; None without one.

    Returns:
        Number of voices that the fall-back made.

    Raises:
        VoicenymError: a recording or a place that cannot be used.
    """
    from voicenym.audio.atomic import PRIVATE, text_beside
    from voicenym.corpus.people import several_speakers
    from voicenym.corpus.people.people_pseudonyms import UNSURE, pseudonyms_of
    from voicenym.corpus.sound_edits import transcript_path

    anonymizer, key, say = system.anonymizer, system.key, options.say
    pseudonyms = pseudonyms_of([*hidden, UNSURE], key, source)
    other = system.loaded_fallback()
    started = time.monotonic()
    with ExitStack() as opened, Progress(say.quiet) as stage:
        opened.enter_context(_folder_of(target))
        if drawn is not None:
            opened.enter_context(text_beside(*drawn, options.overwrite, PRIVATE))
        sound = None
        if edit is not None:
            sound = _without_words(system, options, source, target, edit, opened, stage)
        before = None
        if system.stored:  # another run has another key otherwise, and with it other voices
            before = parts_before(target, source, anonymizer, system.fallback, key)
        kept = opened.enter_context(until_done(before))
        stage(f"anonymizing {sum(p.voice is not None for p in what.pieces())} parts")
        result, refusals = several_speakers.anonymize_speakers(
            anonymizer, pseudonyms, source, target, what,
            overwrite=options.overwrite, lenient=options.lenient, fallback=other,
            progress=stage.reached, writing=partial(_writing, stage), edit=sound, kept=kept,
            tag=partial(key.tag, PART),
        )  # fmt: skip
    for person, refusal in refusals.items():
        assert other is not None
        name = f"{source}, {person or 'uncertain speech'}"
        say.warn(fallback_sentence(name, refusal, anonymizer.card, other.card))
    for warning in (*(() if sound is None else sound.warnings), *result.warnings):
        say.warn(warning)
    if sound is not None:
        say(removed_in_words(sound.log))
    if drawn is not None:
        say(f"wrote {drawn[0]}")
    beside = "" if sound is None else f" and {transcript_path(target)}"
    speed = result.duration / (time.monotonic() - started)
    say(f"wrote {target}{beside} ({speed:.0f} x real time)")
    return len(refusals)


def _without_words(
    system: RunSystem,
    options: RunOptions,
    source: Path,
    target: Path,
    edit: RedactionSettings,
    opened: ExitStack,
    stage: Progress,
) -> SoundEdit:
    """The recording without the words; their transcript and log get their names with the output.

    Args:
        system, options, source, target, edit: as of :func:`_write`.
        opened: where what is going to be written is entered.
        stage: of the progress.
    """
    from voicenym.audio.atomic import text_beside
    from voicenym.corpus.sound_edits import log_of_edit, log_path, transcript_path
    from voicenym.redaction.redaction_edit import edit_of
    from voicenym.transcription.heard_stretches import heard_before

    stage("loading the recogniser")
    redactor = edit.redactor(stage=stage, progress=stage.reached)
    known = heard_before(source, source, redactor.recogniser, language=edit.language)
    heard = opened.enter_context(until_done(known))
    sound = edit_of(redactor, source, str(source), options.lenient, heard)
    text = transcript_path(target)
    opened.enter_context(text_beside(text, sound.transcript, options.overwrite))
    log = log_of_edit(target, system.about(), edit.stamp(system.key), sound.log)
    opened.enter_context(text_beside(log_path(target), log, options.overwrite))
    return sound


def _writing(stage: Progress, seconds: float) -> None:
    if not seconds:
        stage("writing")
    stage.reached(seconds)


def _check_places(
    source: Path, target: Path, timeline: Path | None, transcript: bool, overwrite: bool
) -> None:
    """Refuses places and kinds of outputs before the work for them."""
    from voicenym.audio.atomic import sweep
    from voicenym.audio.container_files.containers import container_of
    from voicenym.corpus.plans.output_target import check_target
    from voicenym.corpus.sound_edits import check_log_place, transcript_path

    sweep(target.parent)  # what a killed run left, also if this one is refused
    check_target(source, target, overwrite)
    container_of(target, str(target))
    if transcript:
        check_target(source, transcript_path(target), overwrite)
        check_log_place(target, overwrite)
    if timeline is not None:
        sweep(timeline.parent)
        _check_timeline(timeline, overwrite)
        if not timeline.parent.is_dir() and timeline.parent.resolve() != target.parent.resolve():
            raise DiarizationError(f"{timeline}: its folder does not exist; create it first")


def _check_timeline(path: Path, overwrite: bool) -> None:
    """Refuses a place of the timeline that is taken.

    Raises:
        DiarizationError: with the cure.
    """
    if path.is_dir():
        raise DiarizationError(f"{path}: is a folder; name a file with --timeline")
    if not overwrite and os.path.lexists(path):
        raise DiarizationError(
            f"{path}: exists already; add --overwrite to replace it, or choose another name with "
            "--timeline"
        )


@contextmanager
def _folder_of(target: Path) -> Iterator[None]:
    """Context manager with the folder of an output; after an error, what was made for it is gone.

    A folder with something in it stays, such as the parts of a run that was interrupted.
    """
    from voicenym.audio.atomic import write_failed

    made = [path for path in target.parents if not path.exists()]
    try:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_failed(str(target), error) from None
        yield
    except BaseException:
        for path in made:
            with suppress(OSError):
                path.rmdir()
        raise


def report(
    what: SpeakerPlan,
    found: Diarization,
    who: Choice,
    stored: bool,
    say: Messages,
    dry_run: bool,
) -> None:
    """Prints the seconds of each treatment and whose voices are whose; a dry run, the timeline."""
    from voicenym.diarization.formats.timeline import draw
    from voicenym.diarization.formats.turn_names import is_named

    if dry_run:
        seconds = what.frames / what.rate
        for line in draw(_rows(what, found, who), seconds):
            typer.echo(line)
        typer.echo("= kept   # hidden   _ silenced   . nothing")
    for line, seconds in _totals(what):
        (typer.echo if dry_run else say)(f"{seconds:9.1f} s  {line}")
    for person in sorted(who.hidden):
        if not is_named(person):
            say(
                f"{person}: a label that names nobody, so that its voice is of this recording "
                f"alone; for the same voice in others: --name {person}=NAME"
            )
        elif stored:
            say(f"{person}: has the voice that the key gives {person} in every recording")


def _totals(what: SpeakerPlan) -> list[tuple[str, float]]:
    words = {"hide": "hidden", "keep": "kept", "silence": "silenced"}
    return [
        (f"{words[treatment]}: {person}, {why}" if person else f"{words[treatment]}: {why}", value)
        for (treatment, person, why), value in what.seconds().items()
    ]


def _rows(what: SpeakerPlan, found: Diarization, who: Choice) -> list[Any]:
    from voicenym.diarization.formats.timeline import HIDDEN, KEPT, SILENCED, SPEECH, Row, Span

    kinds = {"hide": HIDDEN, "keep": KEPT, "silence": SILENCED}
    rows = []
    for person in found.speakers:
        kind = HIDDEN if person in who.hidden else KEPT if person in who.kept else SPEECH
        own = [Span(t.start, t.end, kind) for t in found.turns if t.speaker == person]
        rows.append(Row(person, own))
    parts = [
        Span(part.start / what.rate, part.end / what.rate, kinds[part.treatment], part.reason.value)
        for part in what.parts
    ]
    return [*rows, Row("(output)", parts)]


def _page(what: SpeakerPlan, found: Diarization, who: Choice, source: Path) -> str:
    from voicenym.diarization.formats.timeline_html import page

    rows = _rows(what, found, who)
    return page(source.name, rows, what.frames / what.rate, _totals(what))
