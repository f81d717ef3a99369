"""Speakers found by readers of word codes, or of a recogniser's states, without any system.

    python benchmarks/studies/word_codes/word_code_readers.py --speech DIR --whisper FOLDER
        --cache DIR [--codes FOLDER ...]

The comparisons are those of the content attacker
(`voicenym.attack.channels.channel_branches`), fused by ranks. They read codes of original speech:
what every system that speaks these codes and draws all the rest must write. They learn from twelve
recordings of each speaker of speechocean762's train,
and are tried on the 95 of its dev, six recordings enrolled and five tried one by one. Codes of
several books are read as codes of one book that holds the entries of all.

Rows: states that the codes stand for (means and deviations); of each codebook, frequencies and
pairs of codes; and their lengths as well, which systems with drawn timing do not write. Last, for
codes of one book, means and deviations of the entries: 128 numbers of a recording, which a model
learns from fewer recordings than frequencies of 512 codes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from word_code_attackers import with_interval
from word_code_recordings import Sample, learnt, manifest, spread
from word_codes import WhisperStates

from voicenym.attack.channels.channel_branches import WORD_PLACES, Branch
from voicenym.attack.channels.content_extractor import ContentUnits
from voicenym.attack.fusion.branch_weights import Measured, fused, trained
from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.verification.eer import eer
from voicenym.nets.content import word_code_bottleneck
from voicenym.nets.words.whisper.whisper_published import published
from voicenym.verification.authorship import CosineDelta, TfIdf, profiles
from voicenym.verification.measure_comparison import MeasureComparison
from voicenym.verification.principal_plda import PrincipalPLDA
from voicenym.verification.unit_lengths import measure

EACH, ENROLLED = 11, 6
Part = tuple[str, np.ndarray, Callable[..., object]]


def tried(speech: Path) -> list[Sample]:
    """Recordings of everybody in dev."""
    rows = [r for r in manifest(speech) if r["corpus"] == "speechocean762" and r["split"] == "dev"]
    return [
        Sample(r["utterance"], speaker, r["text"], speech / r["path"])
        for speaker in sorted({r["speaker"] for r in rows})
        for r in spread([r for r in rows if r["speaker"] == speaker], EACH)
    ]


def found(
    parts: Sequence[Part],
    recordings: Sequence[Sample],
    known: int,
) -> str:
    """The equal error rate of fused comparisons.

    Args:
        parts: name, measures ``[recording, measure]`` and training of each comparison.
        recordings: those to learn from come first.
        known: how many these are.
    """
    speakers = np.array([one.speaker for one in recordings])
    names = np.array([one.name for one in recordings])
    branches, pools, own = [], [], []
    people = sorted(set(speakers[known:]))
    places = {who: known + np.flatnonzero(speakers[known:] == who) for who in people}
    tests = np.concatenate([places[who][ENROLLED:] for who in people])
    for name, numbers, train in parts:
        branch = Branch(name, ContentUnits(), np.stack, train)  # type: ignore[arg-type]
        learnt_ = slice(0, known)
        pool = Measured(numbers[learnt_], speakers[learnt_], names[learnt_], np.zeros(known, int))
        back_end = trained(branch, pool, False)
        models = [numbers[places[who][:ENROLLED]] for who in people]
        own.append(back_end.score(models, numbers[tests]))
        branches.append(branch)
        pools.append(pool)
    scores = own[0]
    if len(own) > 1:
        scores = fused(branches, pools, [False] * len(own), "utterance")(own)
    models_, trials = np.indices(scores.shape).reshape(2, -1)
    owner = np.searchsorted(people, speakers[tests])
    pairs = np.stack([models_, owner[trials]], axis=1)
    same = pairs[:, 0] == pairs[:, 1]
    values = scores[models_, trials]
    return with_interval(eer(values[same], values[~same], Speakers(pairs[same], pairs[~same])))


def comparisons(numbers: Sequence[np.ndarray], entries: int) -> list[tuple[str, list[Part]]]:
    """Comparisons of codes, without and with their lengths, by name.

    Args:
        numbers: codes of each recording, ``[code, book]``.
        entries: how many codes there are, of all books together.
    """
    flat = [own.ravel() for own in numbers]
    single, pairs = profiles(flat, 1, entries), profiles(flat, 2, WORD_PLACES)
    sounds: list[Part] = [("frequent", single, CosineDelta.train), ("pairs", pairs, TfIdf.train)]
    lengths = measure([own[:, 0] for own in numbers])
    timed = [*sounds, ("lengths", lengths, MeasureComparison.train)]
    return [("frequencies and pairs", sounds), ("and lengths", timed)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--codes", type=Path, action="append", default=[])
    given = parser.parse_args()
    states_of = WhisperStates(published(given.whisper), given.cache)
    pool, tests = learnt(given.speech, 12), tried(given.speech)
    recordings = [*pool, *tests]
    statistics = []
    for one in recordings:
        states = states_of(one).numpy()
        states = states[: len(states) // 2 * 2].reshape(-1, 2, states.shape[1]).mean(1)
        statistics.append(np.r_[states.mean(0), states.std(0)])
    row = found([("states", np.array(statistics), PrincipalPLDA.train)], recordings, len(pool))
    print(f"states: {row}", flush=True)
    for place in given.codes:
        network = word_code_bottleneck.load(place)
        entries, books = network.sizes.entries, network.sizes.books
        numbers = []
        for one in recordings:
            codes = network.codes(states_of(one))
            numbers.append((codes + entries * torch.arange(books)).numpy())
        if books == 1:
            vectors = network.quantizer.books[0].vectors
            of_entries = [vectors[own[:, 0]].numpy() for own in numbers]
            means = np.stack([np.r_[x.mean(0), x.std(0)] for x in of_entries])
            row = found([("entries", means, PrincipalPLDA.train)], recordings, len(pool))
            print(f"{place.name}, entries: {row}", flush=True)
        for what, parts in comparisons(numbers, entries * books):
            print(f"{place.name}, {what}: {found(parts, recordings, len(pool))}", flush=True)


if __name__ == "__main__":
    main()
