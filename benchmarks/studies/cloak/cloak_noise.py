"""Compares the cloak with noise of the same spectrum and loudness, for each verifier.

Found: on i-vectors the bundled cloak does much more than such noise, on Resemblyzer little more.

    python benchmarks/studies/cloak/cloak_noise.py SPEECH [--corpus speechocean762] [--weights DIR]
        [--epsilon 0.05] [--verifier ecapa-small --verifier resemblyzer --verifier ivector:FOLDER]

SPEECH has a manifest; speakers are the half of ``dev`` on whom nothing is tuned. For each verifier,
the equal error rate of the ignorant attacker on originals, on cloaked speech, and on speech to
which is added, instead of the cloak, noise that takes from it its spectrum over the whole
recording, or its spectrum and its course in power (over 32 ms); both have its energy. The last
column is the cloak's rate less that of the noise, on the same speakers: with an interval above 0,
the cloak is more than noise to that verifier. All in percent, with 95 % intervals over speakers.
"""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.attack.attackers import Ignorant, Unprotected
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import halved
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import Anonymize, Step, Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.results import cell
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics.joint_figures.paired import eer_difference
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import installed, verifier

COURSE = 512
"""Samples over which the course of a cloak's power is taken."""


def like(added: np.ndarray, follows: bool, seed: int) -> np.ndarray:
    """Gaussian noise ``[time]`` of the spectrum and the energy of what was added.

    Args:
        added: ``[time]``.
        follows: has its course in power, too.
        seed: of the noise.
    """
    white = np.random.default_rng(seed).standard_normal(len(added))
    shape = np.abs(np.fft.rfft(added))
    noise = np.fft.irfft(np.fft.rfft(white) * shape, len(added))
    if follows:
        window = np.ones(COURSE) / COURSE
        own, wanted = (np.convolve(x**2, window, "same").clip(1e-16) for x in (noise, added))
        noise *= np.sqrt(wanted / own)
    return noise * np.sqrt((added**2).sum() / max((noise**2).sum(), 1e-16))


@dataclass(frozen=True)
class Noisy:
    """Noise like a cloak in its place.

    Args:
        cloak: the step whose place it takes.
        follows: as of :func:`like`.
    """

    cloak: Anonymize
    follows: bool

    def identity(self, recording: Recording) -> str:
        return f"noise like {self.cloak.identity(recording)}, {self.follows}"

    def __call__(self, samples: np.ndarray, recording: Recording) -> np.ndarray:
        added = self.cloak(samples, recording) - samples
        seed = int.from_bytes(hashlib.sha256(recording.name.encode()).digest()[:8], "big")
        noise = like(added.astype(np.float64), self.follows, seed)
        return (samples + noise).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--corpus", default="speechocean762")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--weights", default="", help="of the cloak; the bundled ones unless given")
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--verifier", action="append", default=[])
    parser.add_argument("--enrolment", type=int, default=6)
    parser.add_argument("--tried", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    speech = halved(recordings(options.speech, options.split, options.corpus), "report")
    trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
    parameters: dict[str, Any] = {"epsilon": options.epsilon}
    if options.weights:
        parameters["weights"] = options.weights
    cloak = Anonymize("vcloak", key(0, "user"), parameters=tuple(sorted(parameters.items())))
    steps: dict[str, Step] = {
        "cloak": cloak,
        "noise of its spectrum": Noisy(cloak, False),
        "noise of its spectrum and course": Noisy(cloak, True),
    }
    print(f"{len(trials.models)} speakers, {len(trials.recordings)} recordings tried\n")
    print("| verifier | added | A1 | the cloak's less this |\n| --- | --- | --- | --- |")
    with Embedder(VectorCache(options.cache)) as embedder:
        for voice in (verifier(name) for name in options.verifier or installed()):
            bare = Scenario(trials.models, trials.recordings, Protection(Transform()), key(0, "a"))
            (one,) = protection.attack(
                [Unprotected()], bare, trials, voice, embedder, replicates=options.replicates
            )
            print(f"| {voice.name} | nothing | {cell(one.figures.eer)} | |", flush=True)
            cloaked = None
            for name, step in steps.items():
                case = Scenario(
                    trials.models, trials.recordings, Protection(Transform((step,))), key(0, "a")
                )
                (one,) = protection.attack(
                    [Ignorant()], case, trials, voice, embedder, replicates=options.replicates
                )
                scores = split(one.scores, trials)
                cloaked = cloaked or scores
                apart = eer_difference(scores, cloaked, replicates=options.replicates)
                low, high = (100.0 * x for x in apart.interval)
                more = f"{100.0 * apart.value:.1f} ({low:.1f} to {high:.1f})"
                shown = "" if step is cloak else more
                print(f"| {voice.name} | {name} | {cell(one.figures.eer)} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
