"""Word error rate by pocketsphinx (its own English acoustic model) with a bigram of the corpus.

A closed vocabulary and a language model of the very sentences make the recogniser better than it
is; the figure compares systems on the same sentences and is no figure of intelligibility to people.
"""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import jiwer
import numpy as np
import pocketsphinx

DISCOUNT = 0.5
"""Absolute discount of bigram counts."""


def vocabulary() -> dict[str, list[str]]:
    """Words of the bundled pronunciation dictionary and their lines in it."""
    path = Path(pocketsphinx.get_model_path()) / "en-us" / "cmudict-en-us.dict"
    lines: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        word = line.split(" ", 1)[0].split("(")[0]
        lines.setdefault(word, []).append(line)
    return lines


def bigram_arpa(sentences: Sequence[str]) -> str:
    """A bigram with absolute discounting and back-off, as an ARPA file."""
    unigrams: Counter[str] = Counter()
    bigrams: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        words = ["<s>", *sentence.split(), "</s>"]
        unigrams.update(words)
        bigrams.update(pairwise(words))
    total = sum(count for word, count in unigrams.items() if word != "<s>")
    followers: Counter[str] = Counter()
    history: Counter[str] = Counter()
    for (first, _), count in bigrams.items():
        followers[first] += 1
        history[first] += count
    probability = {w: c / total for w, c in unigrams.items() if w != "<s>"}
    lines = ["\\data\\", f"ngram 1={len(unigrams)}", f"ngram 2={len(bigrams)}", "", "\\1-grams:"]
    for word in sorted(unigrams):
        seen = sum(probability[b] for (a, b) in bigrams if a == word) if followers[word] else 0.0
        left = DISCOUNT * followers[word] / history[word] if history[word] else 1.0
        weight = math.log10(max(left / max(1e-9, 1.0 - seen), 1e-9))
        log = -99.0 if word == "<s>" else math.log10(probability[word])
        lines.append(f"{log:.5f} {word} {weight:.5f}")
    lines += ["", "\\2-grams:"]
    for (first, second), count in sorted(bigrams.items()):
        lines.append(f"{math.log10((count - DISCOUNT) / history[first]):.5f} {first} {second}")
    return "\n".join([*lines, "", "\\end\\", ""])


class Recogniser:
    """Pocketsphinx over the words of some sentences.

    Args:
        sentences: lower case, all words in the dictionary.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        words = {word for sentence in sentences for word in sentence.split()}
        known = vocabulary()
        with tempfile.TemporaryDirectory() as folder:
            model, dictionary = Path(folder, "lm.arpa"), Path(folder, "words.dict")
            model.write_text(bigram_arpa(sentences), "utf-8")
            dictionary.write_text(
                "\n".join(line for word in sorted(words) for line in known[word]) + "\n", "utf-8"
            )
            self._decoder = pocketsphinx.Decoder(
                lm=str(model), dict=str(dictionary), loglevel="FATAL"
            )

    def __call__(self, samples: np.ndarray) -> str:
        """Words heard in ``[time]`` float samples at 16 kHz."""
        data = (np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes()
        self._decoder.start_utt()
        self._decoder.process_raw(data, full_utt=True)
        self._decoder.end_utt()
        found = self._decoder.hyp()
        return found.hypstr if found else ""


def errors(reference: str, heard: str) -> tuple[int, int]:
    """Substitutions, deletions and insertions, and the number of words of the reference."""
    if not heard:
        return len(reference.split()), len(reference.split())
    result = jiwer.process_words(reference, heard)
    return (
        result.substitutions + result.deletions + result.insertions,
        len(reference.split()),
    )
