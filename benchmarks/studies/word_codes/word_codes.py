r"""Measures the words that codes of words keep, and the speaker identity that they reveal.

Found: the error rates of the original states; no codes were trained long enough yet
(``docs/research/word-codes.md``).

    pip install -e .[evaluate,train,recognisers]
    python benchmarks/studies/word_codes/word_codes.py --speech DIR --whisper FOLDER --cache DIR \
        [--codes FOLDER ...] [--aloud FOLDER] [--half tune|report|both] [--leakage]

No sound is made: Whisper's own decoder listens to the states that codes become, greedily, in whole
windows of 30 s, as it does to the original states, which are the first row.

Words: WER on adults of speechocean762's dev (24 speakers, six recordings each) and its children; of
LibriSpeech, on every fifth speaker, where the reference is what the decoder writes of the original
states, since there are no texts; of sentences of synthetic voices that were held out
(`benchmarks/studies/corpora/read_aloud.py`). Training must leave these out: `--training FILE`
writes a manifest of what it may use, and does no more.

Bits a second: entropy of single codes over all test recordings, times their rate.

Leakage (`--leakage`): attackers who read nothing but codes, or the states themselves; their timing
is in them. A network (convolutions over embedded codes, means and deviations, angular margin) and
counts of codes with a two-covariance model; they learn from speechocean762's train
(`--learnt` recordings of each speaker), and are tried on the 24 adults, three recordings to enrol,
three to try.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile
import torch
from word_code_attackers import leakage
from word_code_recordings import (
    Sample,
    aloud,
    dev,
    for_training,
    learnt,
    unheard,
)

from voicenym.metrics import word_errors
from voicenym.nets.content import word_code_bottleneck
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper import STATE, Whisper
from voicenym.nets.words.whisper.whisper_published import Published, published
from voicenym.private import private_folder
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer

ROWS = 16
"""Windows that are decoded together."""


class WhisperStates:
    """States of whole windows by Whisper; those of the speech are kept in a folder.

    Args:
        whisper: the recogniser.
        folder: for its owner alone.
    """

    def __init__(self, whisper: Published, folder: Path) -> None:
        self.whisper = whisper
        self._folder = private_folder(folder, "recogniser states of speech")

    @torch.inference_mode()
    def __call__(self, one: Sample, whole: bool = False) -> torch.Tensor:
        """``[state, size]`` of the speech; of the whole window, where it is asked for."""
        kind = "whole" if whole else "speech"
        path = self._folder / f"{one.path.stem}.{kind}.npy"
        if not path.is_file():
            samples, _ = soundfile.read(one.path, dtype="float32")
            states = self.whisper.network.states(torch.from_numpy(samples)[None])[0].half()
            count = min(len(states), -(-len(samples) // STATE))
            np.save(self._folder / f"{one.path.stem}.speech.npy", states[:count].numpy())
            if whole:
                np.save(path, states.numpy())
        return torch.from_numpy(np.load(path, allow_pickle=False)).float()


def written(whisper: Published, windows: Sequence[torch.Tensor]) -> list[str]:
    """What the decoder writes of whole windows."""
    tokenizer = Tokenizer(whisper.tokenizer)
    network: Whisper = whisper.network
    return [
        tokenizer.decode(tokens)
        for start in range(0, len(windows), ROWS)
        for tokens in network.write(
            torch.stack(list(windows[start : start + ROWS])), whisper.writing
        )
    ]


def bits(codes: Sequence[torch.Tensor], rate: float) -> float:
    """A second: entropy of single codes, books summed."""
    found = 0.0
    for book in range(codes[0].shape[1]):
        counts = Counter(int(c) for one in codes for c in one[:, book])
        shares = np.array(list(counts.values())) / sum(counts.values())
        found -= float((shares * np.log2(shares)).sum())
    return found * rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--training", type=Path, help="a manifest to write, of what may be learnt")
    parser.add_argument("--whisper", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--codes", type=Path, action="append", default=[])
    parser.add_argument("--aloud", type=Path)
    parser.add_argument("--half", choices=["tune", "report", "both"], default="both")
    parser.add_argument("--original", action="store_true", help="words of the original states too")
    parser.add_argument("--leakage", action="store_true")
    parser.add_argument("--only", help="sets whose names hold this")
    parser.add_argument("--learnt", type=int, default=12, help="recordings of each, for attackers")
    parser.add_argument("--steps", type=int, default=800, help="of the attacker's network")
    given = parser.parse_args()
    if given.training is not None:
        for_training(given.speech, given.training)
        return
    if given.whisper is None or given.cache is None:
        parser.error("give --whisper and --cache")
    states_of = WhisperStates(published(given.whisper), given.cache)
    sets = {
        "dev, adults": dev(given.speech, True),
        "dev, children": dev(given.speech, False),
        "LibriSpeech, unheard speakers": unheard(given.speech),
    }
    if given.aloud:
        sets["synthetic, unheard sentences"] = aloud(given.aloud)
    if given.only:
        sets = {name: some for name, some in sets.items() if given.only in name}
    if given.half != "both":
        sets = {n: [x for x in v if x.half in ("", given.half)] for n, v in sets.items()}
    everything: list[tuple[str, WordCodes | None]] = [
        (str(path), word_code_bottleneck.load(path)) for path in given.codes
    ]
    if given.original:
        everything.insert(0, ("states as they are", None))
    texts: dict[str, list[str]] = {}
    for name, some in sets.items():
        texts[name] = [one.text for one in some]
        if not any(texts[name]):
            path = given.cache / "unheard.txt"
            if not path.is_file():
                found = written(states_of.whisper, [states_of(one, whole=True) for one in some])
                path.write_text("\n".join(found), "utf-8")
            texts[name] = path.read_text("utf-8").split("\n")
    for label, codes in everything:
        all_codes = []
        for name, some in sets.items():
            if codes is None:
                windows = [states_of(one, whole=True) for one in some]
            else:
                coded = [codes.codes(states_of(one)) for one in some]
                all_codes += coded
                windows = [codes.decoded(c) for c in coded]
            found = word_errors(
                texts[name], written(states_of.whisper, windows), [one.speaker for one in some]
            )
            low, high = found.interval or (found.value, found.value)
            print(
                f"{label}: {name}, {len(some)} recordings: WER {100 * found.value:.1f} "
                f"({100 * low:.1f} to {100 * high:.1f}) %, "
                f"insertions {100 * found.insertions / found.length:.1f} %",
                flush=True,
            )
        if all_codes and codes is not None:
            most = codes.rate * codes.sizes.books * math.log2(codes.sizes.entries)
            print(f"{label}: {bits(all_codes, codes.rate):.0f} bits a second of {most:.0f} at most")
    if given.leakage:
        some = learnt(given.speech, given.learnt)
        tried = [x for x in dev(given.speech, True) if given.half in ("both", x.half)]
        known, attacked = [states_of(x) for x in some], [states_of(x) for x in tried]
        for label, codes in everything:
            if codes is None:
                leakage(label, known, some, attacked, tried, 0, 0, given.steps)
            else:
                size = codes.sizes
                leakage(
                    label,
                    [codes.codes(x) for x in known],
                    some,
                    [codes.codes(x) for x in attacked],
                    tried,
                    size.entries,
                    size.books,
                    given.steps,
                )


if __name__ == "__main__":
    main()
