r"""Compares cloaks of one training budget, each without a part of V-Cloak's recipe.

Found: the section *Ablations* of docs/research/vcloak.md has the table.

    python benchmarks/studies/cloak/cloak_ablations.py SPEECH --recogniser-weights WHISPER \
        --cloak full=FOLDER --cloak no-words=FOLDER ... [--epsilon 0.05] [--verifier NAME] \
        [--cache FOLDER]

SPEECH has a manifest; speakers are the half of ``dev`` on whom nothing is tuned. For every cloak
and epsilon and each verifier: equal error rate and misses (MMR) of the ignorant attacker (A1 of
Deng et al., USENIX Security 2023), the latter at the threshold of originals. For a sample of the
adults' recordings: signal to noise, the mean excess of the perturbation over the masking
threshold of psychoacoustic model 1 in dB, and Whisper's word errors. The second table has the
differences from the first cloak at the same epsilon, of the same speakers. All with 95 % intervals
over speakers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from voicenym.attack.attackers import Attacker, Ignorant, Unprotected
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import halved, spread
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import Transform
from voicenym.dsp.masking import Masking
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.metrics import word_counts
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate, share
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.joint_figures.paired import differences
from voicenym.metrics.verification.eer import equal_error
from voicenym.recognition import Recogniser, recogniser
from voicenym.recognition.transcript_cache import CachedRecogniser
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import installed, verifier

HOP = 512
"""Samples between frames of the masking threshold."""


@dataclass(frozen=True)
class Test:
    """What every cloak is measured on.

    Args:
        trials: of all speakers.
        sample: recordings of adults for words, noise and masking.
        ears: recogniser; None counts no words.
        voices: verifiers.
        embedder: computes or caches vectors.
        replicates: of the bootstrap.
    """

    trials: Trials
    sample: Sequence[Recording]
    ears: Recogniser | None
    voices: Sequence[Verifier]
    embedder: Embedder
    replicates: int


def attacked(
    test: Test, attacker: Attacker, shield: Protection, voice: Verifier
) -> tuple[np.ndarray, float]:
    """Scores ``[model, trial]`` of an attacker, and their threshold of equal errors."""
    case = Scenario(test.trials.models, test.trials.recordings, shield, key(0, "attacker"), ())
    (one,) = protection.attack(
        [attacker], case, test.trials, voice, test.embedder, replicates=test.replicates
    )
    return one.scores, one.threshold


def of_sound(test: Test, shield: Protection) -> dict[str, Drawn]:
    """Noise, masking and words of the sample."""
    people = [recording.speaker for recording in test.sample]
    ones = np.ones(len(people))
    masking = Masking(HOP)
    noise, excess, changed = [], [], []
    for recording in test.sample:
        speech = recording.samples()
        made = shield.transform(recording)
        changed.append(made)
        added = torch.from_numpy(made - speech)[None]
        if added.any():
            hidden, scale = masking.threshold(torch.from_numpy(speech)[None])
            excess.append(float(masking.excess(added, hidden, scale)))
            noise.append(10.0 * np.log10((speech**2).sum() / float(added.square().sum())))
    figures = {}
    if noise:
        figures["SNR, dB"] = share(noise, ones, people)
        figures["above the threshold, dB"] = share(excess, ones, people)
    if test.ears is not None:
        texts = test.ears.transcribe(changed)
        counts = word_counts([recording.text for recording in test.sample], texts)
        figures["WER, %"] = share(100.0 * counts[:, :3].sum(1), counts[:, 3], people)
    return figures


def of_voices(
    test: Test, attacker: Attacker, shield: Protection, thresholds: dict[str, float]
) -> dict[str, Drawn]:
    """EER and MMR of the attacker by verifier, and thresholds that are still missing."""
    figures = {}
    for voice in test.voices:
        scores, threshold = attacked(test, attacker, shield, voice)
        found = equal_error(*split(scores, test.trials))
        figures[f"EER {voice.name}, %"] = percent(found)
        if voice.name in thresholds:
            missed = scores < thresholds[voice.name]
            models, tried = np.nonzero(test.trials.target)
            people = [test.trials.recordings[place].speaker for place in tried]
            figures[f"MMR {voice.name}, %"] = share(
                100.0 * missed[models, tried], np.ones(len(people)), people
            )
        else:
            thresholds[voice.name] = threshold
    return figures


def percent(figure: Drawn) -> Drawn:
    """A share in percent."""
    every = figure.every
    return Drawn(
        100.0 * figure.value,
        figure.speakers,
        lambda times: 100.0 * figure.again(times),
        None if every is None else lambda times: 100.0 * every(times),
    )


def row(label: str, cells: Sequence[str]) -> None:
    print("| " + " | ".join((label, *cells)) + " |", flush=True)


def cell(figure: Drawn | None, replicates: int) -> str:
    if figure is None:
        return ""
    low, high = percentiles(replicate([figure], replicates, 0)[0])
    return f"{figure.value:.1f} ({low:.1f} to {high:.1f})"


def apart(first: Drawn | None, second: Drawn | None, replicates: int) -> str:
    if first is None or second is None:
        return ""
    found = differences([first, second], replicates=replicates)[0, 1]
    return f"{found.value:+.1f} ({found.interval[0]:+.1f} to {found.interval[1]:+.1f})"


def printed(test: Test, cloaks: dict[str, str], epsilons: Sequence[float]) -> None:
    """Print the table, and that of the differences from the first cloak."""
    thresholds: dict[str, float] = {}
    bare = Protection(Transform())
    plain = {**of_voices(test, Unprotected(), bare, thresholds), **of_sound(test, bare)}
    columns: list[str] = []
    found: dict[tuple[str, float], dict[str, Drawn]] = {}
    for epsilon in epsilons:
        for name, folder in cloaks.items():
            settings = {"epsilon": epsilon, **({"weights": folder} if folder else {})}
            shield = Protection.by(
                "vcloak", key(0, "user"), "speaker", tuple(sorted(settings.items()))
            )
            figures = {
                **of_voices(test, Ignorant(), shield, thresholds),
                **of_sound(test, shield),
            }
            if not columns:
                columns = sorted(figures)
                row("", columns)
                row("---", ["---"] * len(columns))
                row("originals", [cell(plain.get(c), test.replicates) for c in columns])
            found[name, epsilon] = figures
            row(f"{name}, ε = {epsilon:g}", [cell(figures[c], test.replicates) for c in columns])
    first = next(iter(cloaks))
    print(f"\nDifference from {first}\n")
    row("", columns)
    row("---", ["---"] * len(columns))
    for (name, epsilon), figures in found.items():
        if name != first:
            cells = [apart(found[first, epsilon][c], figures[c], test.replicates) for c in columns]
            row(f"{name}, ε = {epsilon:g}", cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--corpus", default="speechocean762")
    parser.add_argument("--cloak", action="append", default=[], help="NAME=FOLDER; bundled: NAME=")
    parser.add_argument("--epsilon", action="append", type=float, default=[])
    parser.add_argument("--verifier", action="append", default=[])
    parser.add_argument("--recogniser-weights", default="")
    parser.add_argument("--enrolment", type=int, default=6)
    parser.add_argument("--tried", type=int, default=5)
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    cloaks = dict(text.split("=", 1) for text in options.cloak) or {"bundled": ""}
    speech = halved(recordings(options.speech, "dev", options.corpus), "report")
    trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
    ears = None
    if options.recogniser_weights:
        ears = recogniser("whisper", weights=options.recogniser_weights)
        if options.cache is not None:
            ears = CachedRecogniser(ears, options.cache.with_suffix(".transcripts.jsonl"))
    adults = [recording for recording in trials.recordings if recording.age_group == "adults"]
    sample = spread(adults, options.sample)
    print(
        f"{len(trials.models)} speakers, {len(trials.recordings)} recordings tried; words, noise "
        f"and masking of {len(sample)} of adults\n"
    )
    with Embedder(VectorCache(options.cache)) as embedder:
        voices = [verifier(name) for name in options.verifier or installed()]
        test = Test(trials, sample, ears, voices, embedder, options.replicates)
        printed(test, cloaks, options.epsilon or [0.05])


if __name__ == "__main__":
    main()
