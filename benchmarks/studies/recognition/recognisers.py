"""Measures word errors of trained recognisers on original and anonymized speech.

Found: retraining recovers most of the words that ``mcadams`` seems to lose
(``docs/research/recognisers.md``).

    pip install -e .[train,evaluate]
    voicenym train hybrid --data DIR --split train --corpus speechocean762 --budget 25m -o asr/
    voicenym train hybrid ... --system mcadams --from asr/ -o asr-mcadams/
    python benchmarks/studies/recognition/recognisers.py --speech DIR --weights asr/ \
        --system mcadams --retrained mcadams=asr-mcadams/ [--half tune]

All recognisers get the same recordings of speechocean762's dev speakers, spread over these, and
know the sentences of the training speakers alone: a trained recogniser by its own n-gram,
pocketsphinx by a bigram of them. Only their words can then be recognised. Pocketsphinx was trained
on much native speech; the trained recogniser on the training speakers alone. Phones are compared
with pocketsphinx's alignment of the originals' texts. A 0-gram takes all words for as likely, a
1-gram knows how often each occurs: the difference between them and the n-gram comes from the texts,
not from the audio. Intervals are of 95 %, by bootstrap over speakers. RTF: processor time as a
share of the duration, decoding with the n-gram.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import numpy as np
import torch

from voicenym.corpus.readers.recording_subsets import spread
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.metrics import normalise, word_errors
from voicenym.nets.words.phone_states.phones import SILENCE
from voicenym.pseudonym import Key
from voicenym.recognition import of_folder
from voicenym.recognition.hybrid_recogniser import Hybrid
from voicenym.recognition.interface import Recogniser
from voicenym.recognition.sphinx_processes.alignment import Alignments, pronunciations
from voicenym.recognition.sphinx_processes.sphinx import Sphinx

CORPUS = "speechocean762"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--weights", type=Path, action="append", default=[])
    parser.add_argument("--system", action="append", default=[])
    parser.add_argument("--retrained", action="append", default=[], metavar="SYSTEM=FOLDER")
    parser.add_argument("--half", choices=["tune", "report", "all"], default="tune")
    parser.add_argument("--count", type=int, default=300, help="recordings")
    parser.add_argument("--no-sphinx", action="store_true")
    parser.add_argument("--alignments", type=Path, default=Path("dev-alignments.jsonl"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*cannot pronounce")
    learnt = [normalise(r.text) for r in recordings(options.speech, "train", CORPUS)]
    heard = chosen(options)
    overlap(heard, learnt)
    lexicon = pronunciations(normalise(r.text) for r in heard)
    aligned = Alignments(options.alignments, lexicon).of(heard)
    phones = [None if a is None else [p.name for p in a if p.name != SILENCE] for a in aligned]
    print(f"\n{'speech':10s} {'recogniser':34s} {'errors in % of':14s} {'':22s} RTF")
    retrained = dict(pair.split("=", 1) for pair in options.retrained)
    key = Key.generate()
    for system in ["original", *options.system]:
        steps = () if system == "original" else (Anonymize(system, key, "utterance"),)
        samples = [Transform(steps)(r) if steps else ORIGINAL(r) for r in heard]
        ears: list[Recogniser] = [of_folder(folder) for folder in options.weights]
        if system in retrained:
            ears.append(of_folder(retrained[system]))
        if not options.no_sphinx:
            ears.append(Sphinx(sorted(set(learnt))))
        for one in ears:
            judge(system, one, heard, samples, phones)


def chosen(options: argparse.Namespace) -> list[Recording]:
    """Number of recordings."""
    dev = recordings(options.speech, "dev", CORPUS)
    speakers = sorted({r.speaker for r in dev})
    half = set(speakers if options.half == "all" else speakers[options.half == "report" :: 2])
    found = spread([r for r in dev if r.speaker in half], options.count)
    seconds = sum(len(r.samples()) for r in found) / RATE
    print(f"{len(found)} recordings, {len(half)} speakers, {seconds / 60:.0f} min")
    return found


def overlap(heard: Sequence[Recording], learnt: Sequence[str]) -> None:
    """Share of sentences and words that the training texts contain."""
    known, texts = {word for text in learnt for word in text.split()}, set(learnt)
    said = [normalise(r.text) for r in heard]
    words = [word for text in said for word in text.split()]
    missing = sum(word not in known for word in words)
    print(
        f"{sum(text in texts for text in said)} of {len(said)} sentences are among the "
        f"{len(texts)} learnt; {100 * missing / len(words):.1f} % of the words are not"
    )


def judge(
    system: str,
    ears: Recogniser,
    heard: Sequence[Recording],
    samples: Sequence[np.ndarray],
    phones: Sequence[list[str] | None],
) -> None:
    """Rows of one recogniser."""
    said, who = [normalise(r.text) for r in heard], [r.speaker for r in heard]
    started = processor_time()
    with ears:
        found = ears.transcribe(samples)
    spent = processor_time() - started
    rtf = f"{spent / sum(map(len, samples)) * RATE:.3f}"
    tell(system, ears.name, "words", said, found, who, rtf)
    tell(system, ears.name, "characters", said, found, who, characters=True)
    if not isinstance(ears, Hybrid):
        return
    for order in (1, 0):
        with Hybrid(ears.folder, order=order) as poorer:
            tell(system, "", f"words, {order}-gram", said, poorer.transcribe(samples), who)
    some = [i for i, one in enumerate(phones) if one]
    made = [" ".join(one) for one in ears.phones([samples[i] for i in some])]
    right = [" ".join(phones[i] or []) for i in some]
    tell(system, "", "phones", right, made, [who[i] for i in some])


def tell(
    system: str,
    name: str,
    what: str,
    said: Sequence[str],
    found: Sequence[str],
    who: Sequence[str],
    rtf: str = "",
    *,
    characters: bool = False,
) -> None:
    """One row."""
    errors = word_errors(said, found, who, characters=characters)
    low, high = errors.interval or (errors.value, errors.value)
    figure = f"{100 * errors.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"
    print(f"{system:10s} {name[:34]:34s} {what:14s} {figure:22s} {rtf}")
    sys.stdout.flush()


def processor_time() -> float:
    """Seconds of this process and of those that it started and that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime for usage in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main()
