"""``voicenym anonymize --rttm``: the chosen people of one recording."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.apps.cli.anonymizing.batch_report import fallback_sentence
from voicenym.apps.cli.anonymizing.speaker_output_places import check_places, folder_of
from voicenym.apps.cli.anonymizing.speaker_plan_report import SpeakerPlanReport
from voicenym.apps.cli.options.word_options import removed_in_words
from voicenym.apps.cli.terminal.interrupted_work import PART, parts_before, until_done
from voicenym.apps.cli.terminal.progress import Progress
from voicenym.errors import counted

if TYPE_CHECKING:
    from voicenym.apps.cli.anonymizing.anonymize_run import RunOptions, RunSystem
    from voicenym.apps.cli.options.speaker_options import SpeakerOptions
    from voicenym.corpus.people.several_speakers import SpeakerPlan
    from voicenym.corpus.sound_edits import SoundEdit
    from voicenym.redaction.redaction_settings import RedactionSettings


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

    assert people.rttm is not None
    torch.set_num_threads(1)  # the same bits on any machine
    found, who = people.chosen(source)
    (item,) = file_plan.plan([source], output, None, None)
    say, timeline = options.say, people.timeline
    if not options.dry_run:
        file_plan.check_distinct([item])
        check_places(source, item.target, timeline, edit is not None, options.overwrite)
    with Progress(say.quiet) as stage:
        stage("reading the recording, finding speech")
        plan = several_speakers.plan_speakers(
            source, people.rttm, found, who, lenient=options.lenient
        )
    report = SpeakerPlanReport(plan, found, who)
    report.tell(system.stored, say, options.dry_run)
    drawn = None if timeline is None else (timeline, report.page(source.name))
    if options.dry_run:
        _end_dry_run(options, drawn, edit is not None)
        return
    run = _SpeakerRun(system, options, source, item.target, edit, drawn)
    refused = run.write(plan, sorted(who.hidden))
    voices = {piece.voice for piece in plan.pieces() if piece.voice is not None}
    system.conclude(say, len(voices), refused, "voices")


def _end_dry_run(options: RunOptions, drawn: tuple[Path, str] | None, words: bool) -> None:
    """Writes the timeline, if there is one, and says that nothing else was written.

    Args:
        options: of the run.
        drawn: file and text of the timeline; None without one.
        words: whether words are to be removed.
    """
    from voicenym.diarization.formats.turn_files import write_text

    say = options.say
    if drawn is not None:
        write_text(*drawn, options.overwrite)
        say(f"wrote {drawn[0]}")
    if words:
        say("words to remove are not looked for in a dry run: voicenym redact lists them")
    say("nothing else was written" if drawn else "nothing was written")


@dataclass(frozen=True)
class _SpeakerRun:
    """The output of one recording with its timeline, transcript and log.

    Args:
        system, options: of the run.
        source, target: the recording and its output.
        edit: words to remove; None for none.
        drawn: file and text of the timeline; None without one.
    """

    system: RunSystem
    options: RunOptions
    source: Path
    target: Path
    edit: RedactionSettings | None
    drawn: tuple[Path, str] | None

    def write(self, plan: SpeakerPlan, hidden: Sequence[str]) -> int:
        """Writes all that belongs to the output, or nothing.

        Args:
            plan: what happens to the parts of the recording.
            hidden: people with a pseudonym.

        Returns:
            Number of voices that the fall-back made.

        Raises:
            VoicenymError: a recording or a place that cannot be used.
        """
        from voicenym.audio.atomic import PRIVATE, text_beside
        from voicenym.corpus.people import several_speakers
        from voicenym.corpus.people.people_pseudonyms import UNSURE, pseudonyms_of

        system, options, source, target = self.system, self.options, self.source, self.target
        anonymizer, key = system.anonymizer, system.key
        pseudonyms = pseudonyms_of([*hidden, UNSURE], key, source)
        other = system.loaded_fallback()
        started = time.monotonic()
        with ExitStack() as opened, Progress(options.say.quiet) as stage:
            opened.enter_context(folder_of(target))
            if self.drawn is not None:
                opened.enter_context(text_beside(*self.drawn, options.overwrite, PRIVATE))
            sound = None if self.edit is None else self._without_words(self.edit, opened, stage)
            before = None
            if system.stored:  # another run has another key otherwise, and with it other voices
                before = parts_before(target, source, anonymizer, system.fallback, key)
            kept = opened.enter_context(until_done(before))
            parts = sum(p.voice is not None for p in plan.pieces())
            stage(f"anonymizing {counted(parts, 'part')}")
            result, refusals = several_speakers.anonymize_speakers(
                anonymizer, pseudonyms, source, target, plan,
                overwrite=options.overwrite, lenient=options.lenient, fallback=other,
                progress=stage.reached, writing=partial(_writing, stage), edit=sound, kept=kept,
                tag=partial(key.tag, PART),
            )  # fmt: skip
        for person, refusal in refusals.items():
            assert other is not None
            name = f"{source}, {person or 'uncertain speech'}"
            options.say.warn(fallback_sentence(name, refusal, anonymizer.card, other.card))
        self._tell(sound, result.warnings, result.duration / (time.monotonic() - started))
        return len(refusals)

    def _without_words(
        self, edit: RedactionSettings, opened: ExitStack, stage: Progress
    ) -> SoundEdit:
        """The recording without the words; transcript and log get their names with the output.

        Args:
            edit: words to remove.
            opened: where what is going to be written is entered.
            stage: of the progress.
        """
        from voicenym.audio.atomic import text_beside
        from voicenym.corpus.sound_edits import log_of_edit, log_path, transcript_path
        from voicenym.redaction.redaction_edit import edit_of
        from voicenym.transcription.heard_stretches import heard_before

        source, target, overwrite = self.source, self.target, self.options.overwrite
        stage("loading the recogniser")
        redactor = edit.redactor(stage=stage, progress=stage.reached)
        known = heard_before(source, source, redactor.recogniser, language=edit.language)
        heard = opened.enter_context(until_done(known))
        sound = edit_of(redactor, source, str(source), self.options.lenient, heard)
        opened.enter_context(text_beside(transcript_path(target), sound.transcript, overwrite))
        about = self.system.about()
        log = log_of_edit(target, about, edit.stamp(self.system.key), sound.log)
        opened.enter_context(text_beside(log_path(target), log, overwrite))
        return sound

    def _tell(self, sound: SoundEdit | None, warnings: Sequence[str], speed: float) -> None:
        """Says what was written, with the warnings.

        Args:
            sound: the recording without the words; None if none were removed.
            warnings: of the output.
            speed: seconds of the recording by seconds of work.
        """
        from voicenym.corpus.sound_edits import transcript_path

        say = self.options.say
        for warning in (*(() if sound is None else sound.warnings), *warnings):
            say.warn(warning)
        if sound is not None:
            say(removed_in_words(sound.log))
        if self.drawn is not None:
            say(f"wrote {self.drawn[0]}")
        beside = "" if sound is None else f" and {transcript_path(self.target)}"
        say(f"wrote {self.target}{beside} ({speed:.0f} x real time)")


def _writing(stage: Progress, seconds: float) -> None:
    if not seconds:
        stage("writing")
    stage.reached(seconds)
