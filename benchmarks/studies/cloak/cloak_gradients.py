r"""Compares the one pass of ``vcloak`` with gradient attacks, and plays all of them in rooms.

Neither is in the paper, which cloaks in one pass and measures files. Found:
``docs/research/vcloak.md``, "Gradients and rooms".

    python benchmarks/studies/cloak/cloak_gradients.py --speech DIR [--speakers 16] [--steps 10]

Speakers of a manifest's dev rows enrol with original speech; others of their recordings are tried
as they are, cloaked by ``vcloak``, and changed by the signs of gradients of ``ecapa-small``, all
with the same bound epsilon on each sample: FGSM (one step; Goodfellow et al. 2015) and PGD (several
steps with projection; Madry et al. 2018). Both minimise the cosine with the recording's own vector.
They see the verifier that judges them and have no loss of words. Each is heard as a file, and over
the air: convolved with the impulse response of a room by the image method (Allen and Berkley 1979).
Printed is the equal error rate of an ignorant attacker with the 95 % interval over speakers, the
mean cosine of trials with their own speaker's enrolment, SNR, and seconds of one core per second
of speech.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from cloak_survival import chosen, unit
from scipy.signal import oaconvolve

import voicenym
from voicenym.corpus.recordings import recordings
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.metrics import eer
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.speaker_encoders import SMALL, load
from voicenym.verification.verifiers import installed, verifier

RATE = 16_000
SOUND = 343.0
"""Speed of sound in m/s."""
ROOM = (5.0, 4.0, 2.7)
MOUTH = (1.5, 1.2, 1.5)
PLACES = {"1 m": (2.5, 1.2, 1.5), "3 m": (4.2, 2.5, 1.5)}
REVERBERATION = 0.4
"""Seconds in which a room's sound falls by 60 dB, after Sabine."""
IMAGES = 25
"""Images in each direction and on each side."""


def response(microphone: tuple[float, float, float]) -> np.ndarray:
    """Impulse response ``[time]`` of the room, the direct sound at its beginning."""
    sides, mouth, ear = (np.array(x) for x in (ROOM, MOUTH, microphone))
    volume, walls = sides.prod(), 2 * (sides[0] * (sides[1] + sides[2]) + sides[1] * sides[2])
    reflected = np.sqrt(1.0 - 0.161 * volume / (walls * REVERBERATION))
    count = np.arange(-IMAGES, IMAGES + 1)
    squares, bounces = [], []
    for axis in range(3):
        even = mouth[axis] + 2 * count * sides[axis] - ear[axis]
        odd = -mouth[axis] + 2 * count * sides[axis] - ear[axis]
        squares.append(np.concatenate([even, odd]) ** 2)
        bounces.append(np.concatenate([2 * abs(count), abs(2 * count - 1)]))
    x, y, z = squares
    distance = np.sqrt(x[:, None, None] + y[:, None] + z)
    times = bounces[0][:, None, None] + bounces[1][:, None] + bounces[2]
    delay = np.rint((distance - distance.min()) / SOUND * RATE).astype(int)
    heard = delay < REVERBERATION * RATE
    found = np.bincount(delay[heard], (reflected**times / distance)[heard])
    return found / found[0]


def changed(encoder: Encoder, samples: np.ndarray, epsilon: float, steps: int) -> np.ndarray:
    """``[time]`` moved within epsilon against its own speaker vector: FGSM for one step, else PGD.

    PGD starts at random, because the gradient of the cosine is zero at the recording itself.
    """
    own = torch.from_numpy(samples)
    vector = encoder(own[None]).detach()
    drawn = torch.Generator().manual_seed(0)
    start = 0.1 * epsilon * (2 * torch.rand(len(own), generator=drawn) - 1)
    step = epsilon if steps == 1 else 2.5 * epsilon / steps
    delta = start
    for _ in range(steps):
        delta = delta.detach().requires_grad_()
        near = torch.nn.functional.cosine_similarity(encoder((own + delta)[None]), vector).sum()
        (slope,) = torch.autograd.grad(near, delta)
        moved = (delta.detach() - step * slope.sign()).clamp(-epsilon, epsilon)
        delta = (own + moved).clamp(-1.0, 1.0) - own
    return (own + delta).detach().numpy()


def noise(before: list[np.ndarray], after: list[np.ndarray]) -> float:
    """Mean SNR in dB."""
    pairs = zip(before, after, strict=True)
    return float(np.mean([10 * np.log10((x**2).sum() / ((y - x) ** 2).sum()) for x, y in pairs]))


def show(name: str, trials: Trials, signals: list[np.ndarray]) -> None:
    """Prints a line for each verifier, as a file and in each room."""
    heard: dict[str, list[np.ndarray]] = {"file": signals}
    for place, microphone in PLACES.items():
        room = response(microphone)
        heard[place] = [
            (0.5 * oaconvolve(x, room)[: len(x)] / np.sqrt((room**2).sum())).astype(np.float32)
            for x in signals
        ]
    for judge in installed():
        ear = verifier(judge)
        models = np.stack(
            [unit(ear.embed([r.samples() for r in m.recordings])).mean(0) for m in trials.models]
        )
        for place, sounds in heard.items():
            scores = unit(models) @ unit(ear.embed(sounds)).T
            target, other, speakers = split(scores, trials)
            found = eer(target, other, speakers, replicates=500)
            low, high = (100 * limit for limit in found.interval)
            rate = f"{100 * found.value:.1f} ({low:.1f} to {high:.1f})"
            print(f"{judge:14s} {name:10s} {place:5s} {rate:22s} {target.mean():.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="folder with manifest.tsv")
    parser.add_argument("--speakers", type=int, default=16)
    parser.add_argument("--corpus", default="speechocean762")
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=10, help="of PGD")
    options = parser.parse_args()
    torch.set_num_threads(1)
    system = voicenym.load("vcloak", epsilon=options.epsilon)
    # A benchmark's key is no secret: everyone must get the same figures.
    key = voicenym.Key(hashlib.sha256(b"voicenym benchmark cloak").digest(), None)
    speech = recordings(options.speech / "manifest.tsv", "dev", options.corpus)
    trials = build(chosen(speech, options.speakers), enrolment=4, trials=3)
    encoder = load(SMALL).eval()
    original = [recording.samples() for recording in trials.recordings]
    who = {id(x): r.speaker for x, r in zip(original, trials.recordings, strict=True)}
    ways: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "vcloak": lambda x: system(
            voicenym.Audio(torch.from_numpy(x), RATE), key.pseudonym(who[id(x)])
        ).samples.numpy(),
        "FGSM": lambda x: changed(encoder, x, options.epsilon, 1),
        f"PGD {options.steps}": lambda x: changed(encoder, x, options.epsilon, options.steps),
    }
    seconds = sum(map(len, original)) / RATE
    print(f"{options.speakers} speakers, {len(original)} trials, epsilon {options.epsilon:g}")
    show("original", trials, original)
    for name, way in ways.items():
        way(original[0])  # loads
        began = time.process_time()
        made = [way(x) for x in original]
        cost = (time.process_time() - began) / seconds
        print(f"{name}: SNR {noise(original, made):.1f} dB, {cost:.3f} of real time")
        show(name, trials, made)


if __name__ == "__main__":
    main()
