"""Word and character errors of a trained recogniser on original speech, beside pocketsphinx.

    pip install -e .[train,evaluate]
    voicenym train recogniser --data DIR --split train --corpus speechocean762 \
        --config recogniser-small --budget 20m -o asr/
    python benchmarks/recognisers.py --speech DIR --weights asr/ [--half tune]

Both hear the same recordings of speechocean762's dev speakers, spread over these, and both may know
the sentences of the training speakers, and no others: the trained recogniser by its own n-gram,
pocketsphinx by a bigram of them. Their words are then all that pocketsphinx can say. Pocketsphinx
was made from much native speech; the trained recogniser has heard the training speakers alone.
Intervals are of 95 %, by bootstrap over speakers. RTF: processor time as a share of the duration.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import torch

from voicenym.corpus.recording import RATE
from voicenym.corpus.recordings import recordings, spread
from voicenym.metrics import normalise, word_errors
from voicenym.recognition.sphinx import Sphinx
from voicenym.recognition.trained import Trained

CORPUS = "speechocean762"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--weights", type=Path, action="append", default=[])
    parser.add_argument("--half", choices=["tune", "report"], default="tune")
    parser.add_argument("--count", type=int, default=300, help="recordings")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message=".*cannot pronounce")
    learnt = [r.text for r in recordings(options.speech, "train", CORPUS)]
    dev = recordings(options.speech, "dev", CORPUS)
    half = set(sorted({r.speaker for r in dev})[options.half == "report" :: 2])
    heard = spread([r for r in dev if r.speaker in half], options.count)
    samples = [recording.samples() for recording in heard]
    seconds = sum(map(len, samples)) / RATE
    print(f"{len(heard)} recordings, {len(half)} speakers, {seconds / 60:.0f} min")
    print(f"{'recogniser':44s} {'WER, %':>20s} {'CER, %':>20s} {'RTF':>6s}")
    makers: list[Any] = []
    for folder in options.weights:
        makers += [lambda f=folder: Trained(f, beam=0), lambda f=folder: Trained(f)]
    makers.append(lambda: Sphinx(sorted({normalise(text) for text in learnt})))
    for make in makers:
        started = processor_time()
        with make() as ears:
            name, found = ears.name, ears.transcribe(samples)
        spent = processor_time() - started
        cells = []
        for characters in (False, True):
            errors = word_errors(
                [r.text for r in heard],
                found,
                [r.speaker for r in heard],
                characters=characters,
            )
            low, high = errors.interval or (errors.value, errors.value)
            cells.append(f"{100 * errors.value:.1f} ({100 * low:.1f} to {100 * high:.1f})")
        print(f"{name:44s} {cells[0]:>20s} {cells[1]:>20s} {spent / seconds:6.3f}", flush=True)


def processor_time() -> float:
    """Seconds of this process and of those that it started and that have ended."""
    return sum(
        usage.ru_utime + usage.ru_stime for usage in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main()
