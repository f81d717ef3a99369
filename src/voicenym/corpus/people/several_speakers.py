"""Anonymizes the chosen people of a recording, of which turns say who speaks when.

The recording is read three times, in blocks: for its length and what may be speech; for the pieces
to hide, which are anonymized by person; and to write the output, in which kept samples are those of
the original. Memory does not grow with its length. With an edit, the second and the third time read
the edited sound, for those who are kept and for those who are hidden.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from voicenym.audio import Reader, open_reader, open_writer
from voicenym.corpus.batches.single_file import Progress, Result, block_size, sha256_of
from voicenym.corpus.people.background_noise import BackgroundNoise
from voicenym.corpus.people.border_fades import FADE_SECONDS, Borders, Piece, Render
from voicenym.corpus.people.hidden_voices import HiddenVoices, divided
from voicenym.corpus.people.people_pseudonyms import UNSURE
from voicenym.corpus.plans.output_target import check_target
from voicenym.corpus.recording_checks import Level, changes, verdict
from voicenym.diarization.formats.turns_fit import check_fit
from voicenym.diarization.possible_speech import SoundDetector, possible_speech
from voicenym.diarization.recording_signal import channels_of
from voicenym.diarization.speaker_turns import Diarization
from voicenym.diarization.treatments import Choice, Part, Reason, Treatment, plan
from voicenym.dsp.speech_presence import LevelModulation
from voicenym.errors import AudioError
from voicenym.kept_work import KeptWork
from voicenym.nets.activity.silero import RATE
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer, Refusal
    from voicenym.audio import Writer
    from voicenym.corpus.sound_edits import SoundEdit

IN_SYNC = "others speak in it, so that the timing of who is hidden is kept, which attackers can use"


@dataclass(frozen=True)
class SpeakerPlan:
    """What happens to a recording of several people.

    Args:
        parts: in order; they cover the recording.
        rate: in Hz.
        channels: of the recording.
        frames: its samples.
    """

    parts: tuple[Part, ...]
    rate: int
    channels: int
    frames: int

    def seconds(self) -> dict[tuple[str, str, str], float]:
        """Seconds by treatment, person and reason."""
        total: dict[tuple[str, str, str], float] = {}
        for part in self.parts:
            key = (part.treatment.value, part.person or "", part.reason.value)
            total[key] = total.get(key, 0.0) + (part.end - part.start) / self.rate
        return dict(sorted(total.items()))

    def pieces(self) -> list[Piece]:
        """Parts that are replaced; neighbours of one voice are joined."""
        found: list[Piece] = []
        for part in self.parts:
            if part.treatment is Treatment.KEEP:
                continue
            silent = part.treatment is Treatment.SILENCE
            voice = None if silent else (part.person or UNSURE)
            if found and found[-1].end == part.start and found[-1].voice == voice:
                found[-1] = Piece(found[-1].start, part.end, voice)
            else:
                found.append(Piece(part.start, part.end, voice))
        return found


def plan_speakers(
    source: str | os.PathLike[str],
    turns: str | os.PathLike[str],
    found: Diarization,
    who: Choice,
    *,
    lenient: bool = False,
) -> SpeakerPlan:
    """Plan for a recording, from its turns and from where it may hold speech.

    Args:
        source: the recording.
        turns: file of the turns, for messages.
        found: the turns.
        who: is hidden.
        lenient: accept an Ogg without an end mark.

    Raises:
        DiarizationError: turns that end after the recording.
        AudioError: a recording that cannot be read.
    """
    with open_reader(source, lenient=lenient) as reader:
        rate, channels = reader.rate, reader.channels
        frames, peaks = 0, np.zeros(channels)
        for samples in reader.blocks(block_size(rate, channels)):
            frames += samples.shape[1]
            peaks = np.maximum(peaks, np.abs(samples).max(axis=1, initial=0.0))
    check_fit(found, frames / rate, turns, source)
    detectors = [SoundDetector(peak) for peak in peaks.tolist()]
    for block in channels_of(source, lenient=lenient, rate=RATE):
        for detector, channel in zip(detectors, block, strict=True):
            detector.push(channel)
    speech = possible_speech(detectors, frames / rate)
    return SpeakerPlan(tuple(plan(found, who, rate, frames, speech)), rate, channels, frames)


def anonymize_speakers(
    system: Anonymizer,
    pseudonyms: Mapping[str, Pseudonym],
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    what: SpeakerPlan,
    *,
    overwrite: bool = False,
    lenient: bool = False,
    progress: Progress | None = None,
    writing: Progress | None = None,
    fallback: Anonymizer | None = None,
    edit: SoundEdit | None = None,
    kept: KeptWork | None = None,
    tag: Callable[[str], str] = str,
) -> tuple[Result, dict[str, Refusal]]:
    """Writes a recording in which the chosen people have other voices.

    Args:
        system: the anonymizer.
        pseudonyms: by person, with :data:`UNSURE`.
        source: the recording.
        target: the output, which gets its name when it is complete.
        what: of :func:`plan_speakers`.
        overwrite: whether an existing target may be replaced.
        lenient: accept silent, clipped and very short recordings, and an Ogg without an end.
        progress: called with the seconds done after each block of the second reading.
        writing: the same of the third, which writes; first with 0.
        fallback: the anonymizer of speech that the system refuses; None: that is an error.
        edit: of everybody's sound and of the texts that a system speaks; None for none.
        kept: parts that an interrupted run anonymized with the same system, parameters, fall-back
            and pseudonyms, and to which those of this one are added; None: they are not kept.
        tag: of the digest of a part, by which it is found in ``kept``.

    Returns:
        The result, and the refusals of the system by person.

    Raises:
        RefusedError: the system refuses speech, and there is no fall-back, or it refuses it too.
        AudioError: a faulty recording or target, or an output that is nearly its input; nothing is
            written then.
    """
    name = os.fspath(source)
    check_target(source, target, overwrite)
    rate, channels = what.rate, what.channels
    fade = max(1, round(FADE_SECONDS * rate))
    pieces = divided(what.pieces(), rate)
    folder = Path(target).parent
    if not folder.is_dir():
        raise AudioError(f"{target}: its folder does not exist; create the folder first")
    quiet = _edited(system.in_sync(), edit)
    other = None if fallback is None else _edited(fallback.in_sync(), edit)
    parts = KeptWork.unnamed(folder) if kept is None else kept

    def opened() -> Reader:
        reader = open_reader(source, lenient=lenient)
        return reader if edit is None else edit(reader)

    voices = HiddenVoices(
        quiet, pseudonyms, pieces, rate, channels, what.frames, fade, name, other, parts, tag
    )
    background = BackgroundNoise(rate, channels)
    try:
        with opened() as reader:
            level = _heard(reader, what, voices, background, edit, progress)
        warnings = [*reader.warnings, *verdict(name, level, rate, lenient)]
        voices.finish()
        if writing is not None:
            writing(0.0)
        background.draw(pseudonyms[UNSURE].rng("background"))
        borders = Borders(pieces, what.frames, fade, _rendering(pieces, voices, background))
        with opened() as reader:
            picture = source if reader.has_picture else None
            writer = open_writer(
                target, reader.format, rate, channels, picture=picture, overwrite=overwrite
            )
            with writer, torch.inference_mode():
                _write(reader, writer, borders, what.frames, name, writing)
                warnings += changes(name, reader, writer, what.frames)
    finally:
        if kept is None:
            parts.close()
    if any(piece.voice is not None for piece in pieces) and system.in_sync() is not system:
        warnings.append(f"{name}: {IN_SYNC}")
    warnings += [f"{name}: {text}" for text in voices.warnings]
    result = Result(what.frames / rate, rate, channels, sha256_of(target), tuple(warnings))
    return result, voices.refusals


def _heard(
    reader: Reader,
    what: SpeakerPlan,
    voices: HiddenVoices,
    background: BackgroundNoise,
    edit: SoundEdit | None,
    progress: Progress | None,
) -> Level:
    """The second reading: hidden voices and background noise get their samples.

    Returns:
        The level of the recording.
    """
    level = Level()
    level.movement = LevelModulation(what.rate)
    for done, block in _placed(reader, progress):
        level.push(block)
        voices.push(block)
        for start, end in _background(what, done, done + block.shape[1], edit):
            background.learn(block[:, start - done : end - done])
    return level


def _rendering(
    pieces: Sequence[Piece], voices: HiddenVoices, background: BackgroundNoise
) -> Render:
    """What stands in the place of pieces: samples ``[channel, time]`` of a piece, by its number and
    the first and last place within it.
    """

    def render(index: int, start: int, end: int) -> np.ndarray:
        place = pieces[index].start
        if pieces[index].voice is None:
            return background.noise(place + start, place + end)
        return background.filled(voices.read(index, start, end), place + start)

    return render


def _write(
    reader: Reader,
    writer: Writer,
    borders: Borders,
    frames: int,
    name: str,
    progress: Progress | None,
) -> None:
    """The third reading: kept samples and rendered pieces are written.

    Args:
        reader, writer: of the recording and of the output.
        borders: gives the samples of the output.
        frames: samples at the first reading.
        name: of the recording, for messages.
        progress: called with the seconds done.

    Raises:
        AudioError: the recording has another length than at the first reading.
    """
    count = 0
    for done, block in _placed(reader, progress):
        count = done + block.shape[1]
        writer.write(borders.push(block, last=count == frames))
    if count != frames:
        raise AudioError(f"{name}: has changed while it was read; run again when nobody writes it")


def _placed(reader: Reader, progress: Progress | None) -> Iterator[tuple[int, np.ndarray]]:
    """Blocks ``[channel, time]`` of a recording, each after its first sample's index.

    Args:
        reader: of the recording.
        progress: called with the seconds read, after each block has been used.
    """
    done = 0
    for block in reader.blocks(block_size(reader.rate, reader.channels)):
        yield done, block
        done += block.shape[1]
        if progress is not None:
            progress(done / reader.rate)


def _edited(system: Anonymizer, edit: SoundEdit | None) -> Anonymizer:
    return system if edit is None else system.with_text_edit(edit.texts)


def _background(
    what: SpeakerPlan, start: int, end: int, edit: SoundEdit | None
) -> Iterator[tuple[int, int]]:
    """Parts of the background within ``[start, end)`` that no edit replaces."""
    holes = [
        (math.floor(a * what.rate), math.ceil(b * what.rate))
        for a, b in (() if edit is None else edit.intervals)
        if a * what.rate < end and start < b * what.rate
    ]
    for part in what.parts:
        if part.reason is not Reason.BACKGROUND or part.start >= end or start >= part.end:
            continue
        place = max(start, part.start)
        for first, last in holes:
            if place < min(first, part.end, end):
                yield place, min(first, part.end, end)
            place = max(place, last)
        if place < min(part.end, end):
            yield place, min(part.end, end)
