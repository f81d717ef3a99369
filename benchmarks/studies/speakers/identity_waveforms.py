r"""Measures identity methods through waveforms: their effect after synthesis.

Found: no method protects as on vectors, and selection is the weakest
(``docs/research/identity.md``).

    python benchmarks/studies/speakers/identity_waveforms.py SPEECH --split dev \
        --corpus speechocean762 \
        --pool-split train --method "selection=selection:pool=POOL" --method copy \
        --method "LOH=householder:model=USER,turns=model;;householder:model=ATTACKER,turns=model"

SPEECH has a manifest. Every method chooses the voices of the system ``base``. A method is
``[LABEL=]TEXT`` as of :func:`voicenym.identity.identity`, with ``;;`` and what attackers run
where their weights differ. Attackers compare by the bundled verifier; equal error rates in percent,
50 is a guess, 95 % intervals over speakers:

- *ignorant*: original enrolment, protected trials;
- *lazy-informed*: enrolment protected under the attacker's own key, a voice per speaker;
- *semi-informed*: enrolment protected under its own key, a voice per utterance, so that the key's
  draws average out; compared by PLDA trained on protected speech of other people, each recording
  under two pseudonyms.

"Follows" and "stays" are mean cosines of the outputs' vectors by the verifier with the requested
vector and with that of the original; the mean of the pool is subtracted from all. D_KS is how far
similarities of different speakers are from those of originals, G_VD how distinct voices are.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.attack.attackers import Ignorant, LazyInformed, SemiInformedBackEnd, Unprotected
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import halved, spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import ORIGINAL, Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.measurements import distinctiveness, protection
from voicenym.evaluation.results import cell
from voicenym.evaluation.trial_plans.trials import build
from voicenym.identity import METHODS
from voicenym.systems.base import BUNDLED
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import verifier

SYSTEM = "base"
HEAD = ("method", "ignorant", "lazy-informed", "semi-informed", "G_VD, dB", "D_KS", "follows",
        "stays")  # fmt: skip


@dataclass(frozen=True)
class SemiInformedAnew(SemiInformedBackEnd):
    """The semi-informed attacker whose enrolment has a voice per utterance."""

    name = "semi-informed"

    def enrolment(self, case: Scenario) -> Transform:
        return case.protection.with_key(case.key, "utterance")


def parameters(text: str, weights: str) -> tuple[tuple[str, Any], ...]:
    """Of the system; no text leaves its own way of drawing voices."""
    own = {"identity": text, "weights": weights}
    return tuple(sorted((name, value) for name, value in own.items() if value))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(1) / norms.clip(1e-12)).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--split", default=None)
    parser.add_argument("--corpus", default=None)
    parser.add_argument("--pool-split", default=None)
    parser.add_argument("--pool-size", type=int, default=150, help="recordings attackers learn by")
    parser.add_argument("--all-speakers", action="store_true", help="else every other one")
    parser.add_argument("--enrolment", type=int, default=6)
    parser.add_argument("--tried", type=int, default=5)
    parser.add_argument("--method", action="append", default=[])
    parser.add_argument("--weights", default="", help="of the system; its own unless given")
    parser.add_argument("--cache", type=Path, default=None, help="vectors of earlier runs")
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    speech = recordings(options.speech, options.split, options.corpus)
    speech = speech if options.all_speakers else halved(speech, "report")
    pool = tuple(
        spread(recordings(options.speech, options.pool_split, options.corpus), options.pool_size)
    )
    trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
    voice = verifier("ecapa-small")
    replicates: dict[str, Any] = {"replicates": options.replicates}
    config = json.loads((Path(options.weights or BUNDLED) / "config.json").read_text())
    print(
        f"{len(trials.models)} speakers, {len(trials.recordings)} recordings tried, {len(pool)} "
        f"learnt from; {SYSTEM}'s weights {config['sha256'][:16]}"
    )
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|")
    with Embedder(VectorCache(options.cache)) as embedder:
        bare = Scenario(
            trials.models, trials.recordings, Protection(Transform()), key(0, "attacker"), pool
        )
        original = embedder(voice, trials.recordings, ORIGINAL)
        mean = embedder(voice, pool, ORIGINAL).mean(0)
        (plain,) = protection.attack([Unprotected()], bare, trials, voice, embedder, **replicates)
        print(f"| *unprotected* | {cell(plain.figures.eer)} |" + " |" * (len(HEAD) - 2), flush=True)
        for method in options.method:
            start = time.process_time()
            label, text, theirs = _named(method)
            user = Protection.by(
                SYSTEM, key(0, "user"), "speaker", parameters(text, options.weights)
            )
            # What attackers run may have other weights than the user's.
            known = Protection(
                user.transform, SYSTEM, parameters(theirs or text, options.weights), user.per
            )
            case = Scenario(trials.models, trials.recordings, known, key(0, "attacker"), pool)
            line_up = [Ignorant(), LazyInformed(), SemiInformedAnew()]
            found = protection.attack(line_up, case, trials, voice, embedder, **replicates)
            spoken = embedder(voice, trials.recordings, user.transform)
            _, apart = distinctiveness.measure(original, spoken, trials, options.replicates)
            asked = _asked(text, original, trials.recordings)
            follows = "–" if asked is None else f"{cosine(spoken - mean, asked - mean):.2f}"
            stays = f"{cosine(spoken - mean, original - mean):.2f}"
            row = (label, *(cell(attack.figures.eer) for attack in found), cell(apart["G_VD"]),
                   cell(apart["D_KS"], 2), follows, stays)  # fmt: skip
            spent = time.process_time() - start
            print("| " + " | ".join(row) + f" | <!-- {spent:.0f} s -->", flush=True)


def _named(method: str) -> tuple[str, str, str]:
    """Label, text, and what attackers run (empty where it is the same)."""
    mine, _, theirs = method.partition(";;")
    label, equals, text = mine.partition("=")
    if equals and ":" not in label:
        return label, text, theirs
    return mine or "the system's own", mine, theirs


def _asked(text: str, vectors: np.ndarray, tried: tuple[Recording, ...]) -> np.ndarray | None:
    """The vectors that a method asked of the system; None for the system's own."""
    if not text:
        return None
    who = [key(0, "user").pseudonym(recording.speaker) for recording in tried]
    found: np.ndarray = METHODS.load(text).batch(torch.from_numpy(vectors), who).numpy()
    return found


if __name__ == "__main__":
    main()
