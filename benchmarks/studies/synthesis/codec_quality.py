r"""Measures what a trained codec keeps of speech and hides of the speaker, by strength.

Found: eight codebooks keep the voice, two hide it in part and lose words
(``docs/research/musa.md``).

    pip install -e .[evaluate]
    python benchmarks/studies/synthesis/codec_quality.py SPEECH --weights codec/ \
        --split dev --corpus speechocean762 [--strength 0 --strength 0.5 --strength 1] \
        [--voice turned] [--codebooks 2] [--words] [--draw DIR]

SPEECH has a manifest; the system is ``musa`` with the weights of ``voicenym train musa``. Of every
other speaker by name (``--all-speakers``: of all), three tables:

*Kept*: the same recordings at each ``--strength``, where 0 is the codec alone, in the speaker's own
voice. Mel distance (mean absolute difference of natural logarithms of 80 mels), correlation of F0,
DNSMOS, how like the original the verifier finds the output (mean cosine, less the mean of the
originals; beside it that of another recording of the speaker and that of another speaker).

*Hidden*: equal error rates in percent of the ignorant attacker (original enrolment) and of the
lazy-informed one (enrolment protected under its own key), 50 is a guess; G_VD and DeID of the voice
similarity matrices; with ``--words`` the sentences that pocketsphinx does not pick right of the 20
of their speaker, word error rate by a bigram of these, and command words (picovoice_ww of the same
manifest) that it confuses, all as in ``benchmarks/studies/synthesis/intelligibility.py``. For
single words in a language that no recogniser is at hand for, ``--word`` is a regular expression
whose group is the word within an utterance's name, such as ``arabic_cmds-(.+?)-``: of each speaker,
one recording of every word stands for it, and another is taken for that which it resembles most
(dynamic time warping of cepstra; Sakoe and Chiba 1978), both in the same form. A figure of the
first kind is worth nothing without one of the second: noise hides everybody.

*Heard*: the codec's own speaker encoder as a verifier of originals.

Intervals are of 95 %, by bootstrap over speakers; of command words over recordings. ``--draw`` gets
the curve between hidden and kept, and a t-SNE of the codec's speaker encoder on originals and on
outputs, as SVG; ``--json`` all figures.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import intelligibility
import numpy as np
import torch
from codec_curves import HELD, curve, table
from codec_words import Figures, Words, repeated, taken_for_others

from voicenym.anonymizer import load
from voicenym.attack.attackers import Ignorant, LazyInformed, Unprotected
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import halved, spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.figures.similarity_figures import vectors as scattered
from voicenym.evaluation.measurements import distinctiveness, protection, utility
from voicenym.evaluation.results import Measured
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.metrics import ratio_of_sums
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.codec.codec import Codec
from voicenym.nets.synthesis.synthesis_losses import LogMel, mel_distance
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import verifier

SYSTEM = "musa"
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


class SpeakersOfCodec(Verifier):
    """A codec's speaker encoder as a verifier; cosines of vectors less the training's mean.

    Args:
        codec: trained.
    """

    name = "the codec's own"

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self.version = fingerprint(codec.speakers.state_dict())[:16]

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        with torch.inference_mode():
            found = [self._codec.speaker(torch.from_numpy(x)[None])[0] for x in recordings]
        return (torch.stack(found) - self._codec.voices.mean).numpy()


def parameters(
    weights: Path, voice: str, codebooks: int, strength: float
) -> tuple[tuple[str, Any], ...]:
    """Of the system; at strength 0, of one that keeps the speaker's voice by name."""
    kept = {"strength": strength, "voice": voice} if strength else {"identity": "copy"}
    return tuple({"codebooks": codebooks, **kept, "weights": str(weights)}.items())


def over_speakers(values: Sequence[float], speakers: Sequence[str], replicates: int) -> Measured:
    """A mean over recordings, and its interval over speakers."""
    ones = np.ones(len(values))
    low, high = ratio_of_sums(values, ones, speakers, replicates=replicates)
    return Measured(float(np.mean(values)), low, high)


def kept(heard: Sequence[Recording], transform: Transform, replicates: int) -> Figures:
    """Mel distance, rho_F0, DNSMOS and time over duration of recordings through a transform."""
    mel = LogMel()
    found: dict[str, Measured] = {}
    if transform.steps:
        apart = []
        for recording in heard:
            pair = (torch.from_numpy(x)[None] for x in (recording.samples(), transform(recording)))
            apart.append(float(mel_distance(*pair, mel)))
        speakers = [recording.speaker for recording in heard]
        found["mel distance"] = over_speakers(apart, speakers, replicates)
    told = utility.measure(heard, transform, None, replicates=replicates).figures
    return {**found, **{name: told[name] for name in ("rho_F0", "DNSMOS", "RTF") if name in told}}


def likeness(
    original: np.ndarray, published: np.ndarray, speakers: Sequence[str], replicates: int
) -> Figures:
    """Mean cosines of vectors ``[recording, dimension]``, less the originals' mean.

    Of outputs to their originals, and of originals to the next recording of their speaker and to
    the next speaker's.
    """
    unit, centre = distinctiveness.unit, original.mean(0)
    o, a = unit(original - centre), unit(published - centre)
    names = np.array(speakers)
    own, others = [], []
    for i, name in enumerate(names):
        turns = np.roll(np.arange(len(names)), -i - 1)[:-1]
        own += [float(o[i] @ o[j]) for j in turns[names[turns] == name][:1]]
        others += [float(o[i] @ o[j]) for j in turns[names[turns] != name][:1]]
    figures = {"like the original": over_speakers((o * a).sum(1).tolist(), speakers, replicates)}
    for kind, values in (("same speaker", own), ("other speaker", others)):
        if values:
            figures[f"originals of the {kind}"] = Measured(float(np.mean(values)))
    return figures


def hidden(
    case: Scenario, trials: Trials, ear: Verifier, embedder: Embedder, replicates: int
) -> Figures:
    """EERs of the ignorant and the lazy-informed, G_VD, DeID, and how like the original it is."""
    attackers = [Ignorant(), LazyInformed()]
    found = protection.attack(attackers, case, trials, ear, embedder, replicates=replicates)
    original = embedder(ear, trials.recordings, ORIGINAL)
    published = embedder(ear, trials.recordings, case.protection.transform)
    _, apart = distinctiveness.measure(original, published, trials, replicates)
    speakers = [recording.speaker for recording in trials.recordings]
    return {
        **{attack.figures.attacker: attack.figures.eer for attack in found},
        **{name: apart[name] for name in ("G_VD", "DeID")},
        **likeness(original, published, speakers, replicates),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    torch.set_num_threads(1)
    # What is left out is the same for all, and no news.
    warnings.filterwarnings("ignore", message=".*cannot pronounce")
    speech = recordings(options.speech, options.split, options.corpus)
    speech = speech if options.all_speakers else halved(speech, "report")
    trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
    sample = spread(trials.recordings, options.sample)
    codec, config = Codec.load(options.weights)
    ear, own = verifier(options.verifier), SpeakersOfCodec(codec)
    print(
        f"{len(trials.models)} speakers, {len(trials.recordings)} recordings tried, {len(sample)} "
        f"of them listened to; weights {config['sha256'][:16]}"
    )
    words = _words(options) if options.words else None
    pairs = repeated(speech, options.word) if options.word else {}
    bare = Scenario(trials.models, trials.recordings, Protection(Transform()), key(0, "attacker"))
    rows: dict[str, dict[float, Figures]] = defaultdict(dict)
    everything: dict[str, Figures] = {}
    with Embedder(VectorCache(options.cache)) as embedder:
        for name, one in (("original", ear), ("original, by the codec's own speaker encoder", own)):
            (plain,) = protection.attack(
                [Unprotected()], bare, trials, one, embedder, replicates=options.replicates
            )
            everything[name] = {"unprotected": plain.figures.eer}
        everything["original"] |= kept(sample, ORIGINAL, options.replicates)
        if words is not None:
            everything["original"] |= words(None)
        if pairs:
            everything["original"][HELD[-1]] = taken_for_others(pairs, ORIGINAL)
        published = {}
        for voice, books in product(options.voice or ["turned"], options.codebooks or [0]):
            label = f"{voice}, {books} codebooks" if books else voice
            for strength in options.strength or STRENGTHS:
                started = time.process_time()
                given = parameters(options.weights, voice, books, strength)
                user = Protection.by(SYSTEM, key(0, "user"), "speaker", given)
                case = dataclasses.replace(bare, protection=user)
                figures = hidden(case, trials, ear, embedder, options.replicates)
                listened = Transform((Anonymize(SYSTEM, key(0, "user"), "speaker", given),))
                figures |= kept(sample, listened, options.replicates)
                if words is not None:
                    figures |= words(load(SYSTEM, **dict(given)))
                if pairs:
                    figures[HELD[-1]] = taken_for_others(pairs, listened)
                rows[label][strength] = figures
                everything[f"{label}, strength {strength:g}"] = figures
                print(f"{label}, {strength:g}: {time.process_time() - started:.0f} s", flush=True)
                if strength in (0.0, 1.0):
                    published[f"{label}, {strength:g}"] = embedder(
                        own, trials.recordings, user.transform
                    )
        original = embedder(own, trials.recordings, ORIGINAL)
    print("\n" + table(everything))
    if options.json is not None:
        told = {
            row: {n: dataclasses.asdict(f) for n, f in fs.items()} for row, fs in everything.items()
        }
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if options.draw is not None:
        options.draw.mkdir(parents=True, exist_ok=True)
        (options.draw / "speakers.svg").write_text(scattered(trials, original, published), "utf-8")
        for lost in ("like the original", *HELD):
            if any(lost in f for by in rows.values() for f in by.values()):
                svg = curve(rows, lost)
                (options.draw / f"{lost.replace(' ', '-')}.svg").write_text(svg, "utf-8")


def _words(options: argparse.Namespace) -> Words:
    rows = intelligibility.manifest(options.speech)
    readers = intelligibility.adults(rows, options.split or "all")
    return Words(rows, options.speech, readers)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--weights", type=Path, required=True, help="of voicenym train musa")
    parser.add_argument("--split", default=None)
    parser.add_argument("--corpus", default=None)
    parser.add_argument("--all-speakers", action="store_true", help="else every other one")
    parser.add_argument("--enrolment", type=int, default=6)
    parser.add_argument("--tried", type=int, default=5)
    parser.add_argument("--sample", type=int, default=48, help="recordings that are listened to")
    parser.add_argument("--strength", type=float, action="append", default=[])
    parser.add_argument("--voice", action="append", default=[], choices=["turned", "empty"])
    parser.add_argument("--codebooks", type=int, action="append", default=[], help="0 for all")
    parser.add_argument("--verifier", default="ecapa-small")
    parser.add_argument("--words", action="store_true", help="of English speech, by pocketsphinx")
    parser.add_argument("--word", default="", help="group of a name that is the word said in it")
    parser.add_argument("--cache", type=Path, default=None, help="vectors of earlier runs")
    parser.add_argument("--draw", type=Path, default=None, help="folder for SVGs")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--replicates", type=int, default=1000)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
