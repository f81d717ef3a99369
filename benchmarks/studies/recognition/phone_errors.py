"""Phone errors of systems, by recognisers without words and without a language model.

Found: docs/research/word-codes-recognisers.md, *Other recognisers*.

    pip install -e .[evaluate]
    python benchmarks/studies/recognition/phone_errors.py --speech DIR --cache FOLDER
        [--system NAME ...] [--people children] [--line g711 --whisper FOLDER] [--sphinx]

The recordings are those on which ``voicenym evaluate --split dev --half report --enrolment 1
--tried 6`` measures utility, of adults or of children of speechocean762. Each system gets a key of
its own and one voice a speaker. PER counts against the pronunciations of the texts (CMUdict); the
best fitting one of a word counts. Intervals are of 95 %, by bootstrap over speakers.

``--sphinx`` adds pocketsphinx's own models in a loop of all phones with equal probabilities, and
``--whisper`` word errors. Anonymized speech stays in the cache, so that another recogniser can
follow.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym.anonymizer.registry import SYSTEMS
from voicenym.corpus.readers.recording_subsets import halved
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.telephone_line import TelephoneLine
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics import word_errors
from voicenym.metrics.metric_inputs import RecognisedPhones
from voicenym.metrics.words.phone_error_rate import PHONES
from voicenym.nets.words.phone_states.phone_model import SMALL
from voicenym.pseudonym import Key
from voicenym.recognition import recogniser
from voicenym.recognition.phones.phone_recogniser import FramePhones, pronounced
from voicenym.training.speech.speech_cache import SpeechCache

CORPUS = "speechocean762"
SILENCE = "SIL"
PENALTY = 0.03
"""Probability of a phone's beginning in pocketsphinx's loop: of 1e-15, 1e-10, 1e-6, 1e-3, 0.03 and
0.1, the one with the fewest errors on the tune half."""

Recognise = Callable[[Sequence[np.ndarray]], list[list[str]]]


def chosen(options: argparse.Namespace) -> list[Recording]:
    """Recordings with text of the adults or the children."""
    speech = halved(recordings(options.speech, "dev", CORPUS), options.half)
    speech = [r for r in speech if r.age_group == options.people]
    tried = build(speech, enrolment=1, trials=options.tried).recordings
    print(f"{len(tried)} recordings of {len({r.speaker for r in tried})} {options.people}")
    return list(tried)


def rendering(name: str) -> Any:
    """A system of its own key, which is no secret: everyone must get the same figures."""
    if name == "original":
        return ORIGINAL
    system, given = SYSTEMS.parse(name)
    secret = hashlib.sha256(b"voicenym benchmark phone errors " + name.encode()).digest()
    return Transform((Anonymize(system, Key(secret, None), parameters=tuple(given.items())),))


def sphinx_phones(speech: Sequence[np.ndarray]) -> list[list[str]]:
    """Phones of pocketsphinx's acoustic models in a loop with equal probabilities."""
    options: dict[str, Any] = {"lm": None, "loglevel": "FATAL", "pip": PENALTY}
    decoder: Any = import_module("pocketsphinx").Decoder(**options)
    decoder.add_allphone_file("phones", None)
    decoder.activate_search("phones")
    found = []
    for samples in speech:
        decoder.start_utt()
        data = np.rint(np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        decoder.process_raw(data, full_utt=True)
        decoder.end_utt()
        names = [segment.word for segment in decoder.seg() or ()]
        found.append([name for name in names if name.isalpha() and name != SILENCE])
    return found


def figure(value: float, interval: tuple[float, float] | None) -> str:
    low, high = interval or (value, value)
    return f"{100 * value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def phone_figures(
    speech: Sequence[Recording], sounds: Sequence[np.ndarray], recognise: Recognise
) -> str:
    """PER of the recordings whose words are all in the dictionary."""
    known = pronounced(r.text for r in speech)
    kept = [i for i, words in enumerate(known) if words]
    found = RecognisedPhones(
        [known[i] or [] for i in kept],
        recognise([sounds[i] for i in kept]),
        [speech[i].name for i in kept],
        [speech[i].speaker for i in kept],
    )
    rate: Any = PHONES.measure(found)
    kinds = [rate.substitutions, rate.deletions, rate.insertions]
    shares = " ".join(f"{100 * kind / rate.length:.1f}" for kind in kinds)
    return f"{figure(rate.value, rate.interval)}  s d i {shares}  of {len(kept)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="folder of anonymized speech")
    parser.add_argument("--phones", type=Path, default=SMALL, help="default: the bundled one")
    parser.add_argument("--system", action="append", default=[], metavar="NAME[:FIELD=VALUE]")
    parser.add_argument("--people", choices=["adults", "children"], default="adults")
    parser.add_argument("--half", choices=["tune", "report"], default="report")
    parser.add_argument("--tried", type=int, default=6, help="recordings of a speaker")
    parser.add_argument("--line", help="telephone line behind the system, such as g711")
    parser.add_argument("--whisper", help="weights for word errors")
    parser.add_argument("--sphinx", action="store_true")
    parser.add_argument("--prepare", action="store_true", help="anonymize only")
    options = parser.parse_args()
    torch.set_num_threads(1)
    speech = chosen(options)
    cache = SpeechCache(options.cache)
    line = TelephoneLine(options.line) if options.line else None
    recognisers: dict[str, Recognise] = {}
    if not options.prepare:
        recognisers["PER"] = FramePhones(options.phones).phones
        if options.sphinx:
            recognisers["PER sphinx"] = sphinx_phones
    for name in ["original", *options.system]:
        found = cache.fill(speech, rendering(name))
        sounds = [one.samples() for one in found]
        if line is not None:
            sounds = [line(x, r) for x, r in zip(sounds, speech, strict=True)]
        for kind, recognise in recognisers.items():
            print(f"{name:26s} {kind:10s} {phone_figures(speech, sounds, recognise)}")
        if options.whisper and not options.prepare:
            with recogniser("whisper", weights=options.whisper) as whisper:
                texts = whisper.transcribe(sounds)
            said, who = [r.text for r in speech], [r.speaker for r in speech]
            errors = word_errors(said, texts, who)
            print(f"{name:26s} {'WER':10s} {figure(errors.value, errors.interval)}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
