r"""Numbers in real speech: what is removed of them, and what is heard after that.

    python benchmarks/studies/redaction/redaction_real.py SPEECH --recogniser FOLDER --adults

SPEECH holds manifest.tsv with texts (speechocean762). A recording counts if its text has a number
by the rules, of more than the least confidence. The truth is the text: times are not known, so that
recall counts recordings in whose transcript a number was found, and removed.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.redaction.finding.entity_analyzer import EntityAnalyzer
from voicenym.redaction.finding.spoken_numbers import numbers
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.redactor import LEAST_CONFIDENCE, Redactor
from voicenym.transcription.faster_whisper_words import FasterWhisperWords

ADULT = 18


def numbers_of(text: str) -> list[str]:
    """Numbers of a text that would be removed."""
    return [text[a:b] for a, b, score in numbers(text) if score >= LEAST_CONFIDENCE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("speech", type=Path)
    parser.add_argument("--recogniser", required=True)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--adults", action="store_true", help="leave out children")
    given = parser.parse_args()
    recogniser = FasterWhisperWords(given.recogniser, language="en", threads=1)
    redactor = Redactor(
        recogniser, WordFinder(("numbers",), EntityAnalyzer("rules")), on_miss="sentence"
    )
    with (given.speech / "manifest.tsv").open(encoding="utf-8") as file:
        rows = [
            row for row in csv.DictReader(file, delimiter="\t")
            if row["corpus"] == "speechocean762" and numbers_of(row["text"].lower())
        ]  # fmt: skip
    if given.adults:
        rows = [row for row in rows if int(row["age"]) >= ADULT]
    adults = sum(int(row["age"]) >= ADULT for row in rows)
    print(
        f"{len(rows)} recordings with numbers, {adults} of adults; the first {given.most} by name"
    )
    tally: Counter[str] = Counter()
    for row in sorted(rows, key=lambda one: one["utterance"])[: given.most]:
        path, name = given.speech / row["path"], row["utterance"]
        tally["recordings"] += 1
        try:
            heard = redactor.hear(path, name, lenient=True)
            decisions = redactor.decide(heard)
            taken = [one for one in decisions if one.line.redact]
            tally["found"] += bool(taken)
            tally["all found"] += len(taken) >= len(numbers_of(row["text"].lower()))
            removal = redactor.secure(path, name, heard, decisions, lenient=True)
        except VoicenymError as error:
            tally["stopped"] += 1
            print(name, row["text"], error)
            continue
        tally["found again"] += removal.more > 0
        tally["number in the transcript"] += bool(numbers_of(removal.transcript.text()))
        tally["seconds"] += heard.transcript.seconds
        tally["seconds removed"] += removal.seconds
        if not taken:
            print(name, row["text"], "|", heard.transcript.text())
    print(dict(tally))


if __name__ == "__main__":
    main()
