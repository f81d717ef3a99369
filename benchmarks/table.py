"""One table of speed: each row is a ratio to a named peer or limit, measured in the same run.

    make bench
    python benchmarks/table.py [--rounds 3]

Each row is measured in several rounds, ours and the peer's in turns: the table has the median of
each, the median of the ratios, and the least and the most of them, which is the machine's noise.
All times are of the processor, on one core; other programs on the machine change them less than
elapsed time. Start-up is elapsed time of whole processes. The other scripts print details.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch

import batch
import embedding
import ffts
import householder
import identity
import ivector
import keys
import mcadams_reference
import metrics
import metrics_reference
import resynthesis
import similarity
import speed
import voicenym
from voicenym.anonymizer import usable
from voicenym.dsp.features.cepstra import Cepstra
from voicenym.identity.pools.ranking import ranking
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.identity.selection import Selection
from voicenym.metrics import similarity_matrix

SECONDS = 20
FILES = 100
Row = tuple[str, float, str, float]
"""What is measured, our seconds, the peer or limit, its seconds."""


def systems() -> Iterator[Row]:
    """Each system that runs without further weights, against the duration of the signal."""
    audio = voicenym.Audio(speed.signal(SECONDS, None), speed.RATE)
    pseudonym = speed.KEY.pseudonym("benchmark")
    for name in usable():
        system = voicenym.load(name)
        (ours,) = speed.best(partial(speed.anonymized, system, audio, pseudonym), repeats=2)
        yield f"{name}, {SECONDS} s", ours, "real time", float(SECONDS)


def further_keys() -> Iterator[Row]:
    """A further key of a recording whose analysis is in memory, against its first key."""
    for name in keys.SYSTEMS:
        found = list(keys.pairs(name, speed.signal(SECONDS, None), 3))
        further, first = (statistics.median(pair[k] for pair in found) for k in (0, 1))
        yield f"{name}, a further key, {SECONDS} s", further, "the first key", first
    audio = voicenym.Audio(speed.signal(SECONDS, None), speed.RATE)
    system = voicenym.load("word-codes")
    names = map(str, itertools.count())
    another, first = speed.best(
        lambda: system(audio, speed.KEY.pseudonym(next(names))),
        partial(speed.anonymized, system, audio, speed.KEY.pseudonym("benchmark")),
        lambda: system(audio, speed.KEY.pseudonym(next(names))),  # so that codes are known again
    )[:2]
    yield f"word-codes, a further key, {SECONDS} s", another, "the first key", first


def frame_by_frame() -> Iterator[Row]:
    """``mcadams`` against a plain implementation of the baseline."""
    audio = voicenym.Audio(speed.signal(SECONDS, None), speed.RATE)
    samples = audio.samples.double().numpy()
    system = voicenym.load("mcadams")
    pseudonym = speed.KEY.pseudonym("benchmark")
    peer = partial(
        mcadams_reference.anonymize, samples, 0.8, predict=mcadams_reference.by_autocorrelation
    )
    ours, theirs = speed.best(partial(system, audio, pseudonym), peer, repeats=2)
    yield f"mcadams, {SECONDS} s", ours, "frame by frame, numpy.roots", theirs
    short = samples[: round(7.5 * speed.RATE)]
    peer = partial(mcadams_reference.anonymize, short, 0.8, predict=mcadams_reference.by_burg)
    for name in ("mcadams", "mcadams-radius"):
        one = voicenym.Audio(audio.samples[: len(short)], speed.RATE)
        ours, theirs = speed.best(partial(voicenym.load(name), one, pseudonym), peer, repeats=5)
        yield f"{name}, 7.5 s", ours, "frame by frame, Burg", theirs


def transforms() -> Iterator[Row]:
    """Systems that filter frames, against their own Fourier transforms."""
    samples = speed.signal(SECONDS, None)
    for name in ffts.SYSTEMS:
        found = ffts.row(name, samples, 3)
        yield f"{name}, {SECONDS} s", found.own * SECONDS, "its FFTs", found.ffts * SECONDS


def networks() -> Iterator[Row]:
    """Systems of networks against their multiply-adds at the rate of a matrix product; speaker
    vectors of a corpus against convolutions; reflections against reflections in sequence.
    """
    clock = embedding.Clock("cpu", 1)
    rate = resynthesis.rate_of_products(clock, 768, 2000)
    pseudonym = speed.KEY.pseudonym("benchmark")
    for name, seconds in (
        ("base", 4),
        ("base", SECONDS),
        ("word-codes", 4),
        ("word-codes", SECONDS),
    ):
        system, audio = voicenym.load(name), voicenym.Audio(speed.signal(seconds, None), speed.RATE)
        work = partial(speed.anonymized, system, audio, pseudonym)
        work()
        with torch.inference_mode():
            limit = resynthesis.operations(work) / rate
        (ours,) = speed.best(work, repeats=2)
        yield f"{name}, {seconds} s", ours, "its multiply-adds", limit
    recordings = embedding.corpus(12)
    make, count = embedding.NETWORKS["ecapa-512"]
    network = make().eval()
    products = sum(count(network, len(r) // embedding.HOP + 1) for r in recordings)
    embed = partial(network.embed, recordings)
    spent, share = embedding.against(clock, embed, products)
    yield "speaker vectors of 12 recordings, ecapa-512", spent, "a large convolution", spent * share
    share = embedding.of_its_own(clock, embed, 3)[1]
    yield "speaker vectors of 12 recordings, ecapa-512", spent, "its own products", spent * share
    own = householder.Clock("process", 1, "cpu")
    for form, reading, sees in householder.KINDS[:2]:
        net = householder.Householder(form, householder.SIZE, reading=reading, sees=sees)
        z = torch.randn(householder.BATCH, householder.SIZE)
        grad, weights = torch.randn_like(z), list(net.parameters())
        passes = [
            lambda f=f: torch.autograd.grad(f(z), weights, grad)  # noqa: B023
            for f in (net.rotated, partial(householder.in_sequence, net))
        ]
        ours, theirs = own(passes[0], 7), own(passes[1], 3)
        yield f"{form}, 64 vectors, forward and backward", ours, "reflections in sequence", theirs


def folder() -> Iterator[Row]:
    """A batch of short files against reading, processing and writing alone."""
    with batch.prepared(FILES) as (job, items, out):
        spent = batch.seconds(job, items, out, 3, ("read and written", "batch"))
        bare, ours = (min(figures) / 1000 * FILES for figures in spent.values())
    yield f"mcadams, {FILES} short files", ours, "reading, processing, writing", bare


def start() -> Iterator[Row]:
    """Start of the command and of the library, elapsed time, against importing torch."""

    def elapsed(*arguments: str) -> float:
        command = (sys.executable, *arguments)
        run = partial(subprocess.run, command, check=True, capture_output=True)
        return speed.best(run, clock=time.perf_counter)[0]

    torch_seconds = elapsed("-c", "import torch")
    yield "import voicenym", elapsed("-c", "import voicenym"), "import torch", torch_seconds
    help_seconds = elapsed("-m", "voicenym", "--help")
    yield "voicenym --help", help_seconds, "import torch", torch_seconds


def scores() -> Iterator[Row]:
    """Metrics of 520,000 trials against one sort and a plain implementation; similarity matrices
    against their products.
    """
    metrics.everything(*metrics.trials(1000))
    target, nontarget = metrics.trials(520_000)
    both = np.concatenate([target, nontarget])
    sorting = metrics.seconds(lambda: np.sort(both), 3)[1]
    ours = metrics.seconds(lambda: metrics.everything(target, nontarget), 3)[1]
    yield "EER, min C_llr, ZEBRA, D_sys of 520,000 trials", ours, "one sort", sorting
    plain = metrics.seconds(lambda: metrics_reference.everything(target, nontarget), 2)[1]
    yield "EER, min C_llr, ZEBRA, D_sys of 520,000 trials", ours, "one PAV loop for each", plain
    speakers = metrics.speakers_of(len(target), len(nontarget))
    drawing = partial(metrics.with_intervals, target, nontarget, speakers, metrics.REPLICATES)
    drawn = metrics.seconds(drawing)[1]
    passes = metrics.one_pass(both.size) * metrics.REPLICATES
    yield "the same with 1,000 replicates", drawn, "one pass a replicate", passes
    people = np.repeat(np.arange(similarity.SPEAKERS), similarity.SEGMENTS)
    itself = np.eye(len(people), dtype=bool)
    voices = similarity.vectors(1.0, 1)
    products, ours = speed.best(
        lambda: voices @ voices.T,
        lambda: similarity_matrix(voices @ voices.T, people, people, itself),
    )
    yield "voice similarity matrix of 60 speakers", ours, "its matrix product", products


def vectors() -> Iterator[Row]:
    """Selection against reading the pool once; i-vectors against their operations."""
    noise = torch.Generator().manual_seed(0)
    pooled = torch.randn(identity.SPEAKERS, identity.SIZE, generator=noise)
    sexes = tuple("fm"[i % 2] for i in range(identity.SPEAKERS))
    pool = Pool(pooled, sexes, tuple(map(str, range(identity.SPEAKERS))), "random")
    speaker = torch.randn(identity.SIZE, generator=noise)
    table, method = ranking(pool, "cosine", None).table, Selection(pool, "far", sex="any")
    reading = identity.seconds(lambda: table @ speaker)
    ours = identity.seconds(lambda: method(speaker, speed.KEY.pseudonym("a"), "f"))
    yield "selection from 100,000 speakers", ours, "reading the pool once", reading
    recordings = ivector.noise(8, 8.0)
    background = ivector.model(*ivector.SIZES[0])
    cepstra = Cepstra()
    frames = sum(len(cepstra(x)) for x in recordings)
    features = ivector.seconds(lambda: [cepstra(x) for x in recordings])
    ours = ivector.seconds(lambda: background.ivectors(recordings)) - features
    limit = ivector.operations(background, frames, len(recordings)) / ivector.product_rate()
    yield "i-vectors, 64 components, 64 s", ours, "rate of a matrix product", limit


PARTS: tuple[Callable[[], Iterator[Row]], ...] = (
    systems, further_keys, frame_by_frame, transforms, networks, folder, start, scores, vectors,
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    np.seterr(all="ignore")
    print(f"{'measured':48s} {'seconds':>9s}   {'peer or limit':28s} {'seconds':>9s} ", end="")
    print(f"{'ratio':>8s} {'least':>8s} {'most':>8s}")
    for part in PARTS:
        for same in zip(*(list(part()) for _ in range(rounds)), strict=True):
            name, _, peer, _ = same[0]
            ours, theirs = (statistics.median(row[place] for row in same) for place in (1, 3))
            ratios = sorted(row[1] / row[3] for row in same)
            print(f"{name:48s} {ours:9.4f}   {peer:28s} {theirs:9.4f} ", end="")
            noise = f"{ratios[0]:8.3f} {ratios[-1]:8.3f}"
            print(f"{statistics.median(ratios):8.3f} {noise}", flush=True)


if __name__ == "__main__":
    main()
