r"""V-Cloak's tables: the effect of a cloak by its radius epsilon, on verifiers and on words.

Found: the card of ``vcloak-small`` (``nets/cloak/bundled``) has the tables.

    python benchmarks/studies/cloak/cloak_tables.py SPEECH \
        --corpus speechocean762 --corpus arabic_cmds:train [--system vcloak] [--weights DIR] \
        [--verifier ecapa-small --verifier ivector:FOLDER]

SPEECH has a manifest; of each corpus (and split, by default ``dev``) half of the speakers, those on
whom nothing is tuned. For every epsilon and verifier: equal error rates of the ignorant attacker
(A1 of Deng et al., USENIX Security 2023), of the one who cloaks the enrolment under a key of its
own (A3 without the user's voiceprint) and with the user's (A3 with it); A1's misses (MMR) and wrong
matches (WMR) at the threshold of originals; signal to noise and, of English, the words that
pocketsphinx gets wrong where it chooses among the sentences of the test. ``--denoise`` adds A2's
six filters at 0.05. All with 95 % intervals over speakers, in percent. Vectors are kept in
``--cache``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from voicenym.attack.attackers import Denoising, Ignorant, KeyHolder, LazyInformed, Unprotected
from voicenym.attack.denoisers import denoisers
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.readers.recording_subsets import halved, spread
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.measurements import protection, utility
from voicenym.evaluation.results import cell
from voicenym.evaluation.trial_plans.trials import Trials, build
from voicenym.metrics import normalise
from voicenym.recognition import Recogniser, recogniser
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import installed, verifier

EPSILONS = (0.02, 0.03, 0.05, 0.07, 0.10)
USUAL = 0.05
HEAD = ("ε", "SNR, dB", "verifier", "A1", "A3 without key", "A3 with key", "MMR", "WMR", "WER")


def protected(options: argparse.Namespace, epsilon: float, trials: Trials) -> Scenario:
    """Recordings cloaked with a radius, for attackers with a key of their own."""
    parameters: dict[str, Any] = {"epsilon": epsilon}
    if options.weights:
        parameters["weights"] = options.weights
    user = Protection.by(
        options.system, key(0, "user"), "speaker", tuple(sorted(parameters.items()))
    )
    return Scenario(trials.models, trials.recordings, user, key(0, "attacker"), ())


def listened(
    case: Scenario, ears: Recogniser | None, sample: int, replicates: int
) -> utility.Utility:
    """Words, noise and the like of some recordings, those with text first."""
    told = [recording for recording in case.trials if recording.text] or list(case.trials)
    chosen = spread(told, sample)
    return utility.measure(chosen, case.protection.transform, ears, replicates=replicates)


def table(
    options: argparse.Namespace, corpus: str, trials: Trials, embedder: Embedder, drawn: Any
) -> None:
    """Print a corpus's rows as they come."""
    texts = [recording.text for recording in trials.recordings if recording.text]
    english = corpus.partition(":")[0] != "arabic_cmds" and bool(texts)
    ears = recogniser("sphinx", phrases=sorted(map(normalise, texts))) if english else None
    bare = Scenario(
        trials.models, trials.recordings, Protection(Transform()), key(0, "attacker"), ()
    )
    voices = [verifier(name) for name in options.verifier or installed()]
    print(f"\n{corpus}: {len(trials.models)} speakers, {len(trials.recordings)} recordings tried\n")
    print("| " + " | ".join(HEAD) + " |\n" + "| --- " * len(HEAD) + "|")
    thresholds = {}
    plain = listened(bare, ears, options.sample, drawn["replicates"]).figures
    for voice in voices:
        (one,) = protection.attack([Unprotected()], bare, trials, voice, embedder, **drawn)
        thresholds[voice.name] = {one.figures.attacker: one.threshold}
        equal = cell(one.figures.eer)
        row = ("none", "", voice.name, equal, "", "", "", "", cell(plain.get("WER")))
        print("| " + " | ".join(row) + " |", flush=True)
    for epsilon in options.epsilon or EPSILONS:
        case = protected(options, epsilon, trials)
        heard = listened(case, ears, options.sample, drawn["replicates"]).figures
        for voice in voices:
            line_up = [Ignorant(), LazyInformed(), KeyHolder()]
            kept = thresholds[voice.name]
            found = protection.attack(
                line_up, case, trials, voice, embedder, **drawn, thresholds=kept
            )
            first = found[0].figures.figures
            row = (f"{epsilon:g}", cell(heard.get("SNR")), voice.name,
                   *(cell(attack.figures.eer) for attack in found),
                   *(cell(first.get(name)) for name in ("MMR", "WMR")),
                   cell(heard.get("WER")))  # fmt: skip
            print("| " + " | ".join(row) + " |", flush=True)
    if options.denoise:
        case = protected(options, USUAL, trials)
        print(f"\nA2, ε = {USUAL:g}\n\n| verifier | filter | EER |\n| --- | --- | --- |")
        for voice in voices:
            line_up = [Denoising(name) for name in denoisers()]
            for attack in protection.attack(line_up, case, trials, voice, embedder, **drawn):
                name = attack.figures.attacker
                print(f"| {voice.name} | {name} | {cell(attack.figures.eer)} |", flush=True)
    if ears is not None:
        ears.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("speech", type=Path)
    parser.add_argument("--corpus", action="append", default=[])
    parser.add_argument("--split", default="dev")
    parser.add_argument("--system", default="vcloak")
    parser.add_argument("--weights", default="", help="of the system; its own unless given")
    parser.add_argument("--verifier", action="append", default=[])
    parser.add_argument("--epsilon", action="append", type=float, default=[])
    parser.add_argument("--enrolment", type=int, default=6)
    parser.add_argument("--tried", type=int, default=5)
    parser.add_argument("--sample", type=int, default=48, help="recordings for words and noise")
    parser.add_argument("--denoise", action="store_true")
    parser.add_argument("--all-speakers", action="store_true", help="else every other one")
    parser.add_argument("--cache", type=Path, default=None)
    parser.add_argument("--replicates", type=int, default=1000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with Embedder(VectorCache(options.cache)) as embedder:
        for corpus in options.corpus or ["speechocean762"]:
            name, _, part = corpus.partition(":")
            speech = recordings(options.speech, part or options.split, name)
            speech = speech if options.all_speakers else halved(speech, "report")
            trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
            table(options, corpus, trials, embedder, {"replicates": options.replicates})


if __name__ == "__main__":
    main()
