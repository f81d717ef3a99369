r"""Phones, voices and predicted naturalness by language, on speech of espeak-ng.

Found: docs/research/languages.md.

    pip download --no-deps django && unzip -q django-*.whl -d django
    python benchmarks/studies/languages/language_phones.py speak --translations django -o spoken/
    python benchmarks/studies/languages/language_phones.py learn spoken/ -o phones/ --minutes 8
    python benchmarks/studies/languages/language_phones.py measure spoken/ --phones phones/ \
        --real SPEECH=arabic_cmds --system recast --system mcadams ... --cache vectors.sqlite

``speak`` reads translated sentences (see ``other_languages.py``) in many voices and keeps the
phones that espeak-ng spoke, with their times. ``learn`` trains one network on the phones of all
languages, frame by frame, on voices and sentences that ``measure`` does not have. ``measure``
prints for each language and system the errors of this network, which has no words and no language
model and chooses among the phones of the language (PER), the equal error rates of the ignorant and
the lazy-informed attacker, and DNSMOS; with ``--refusals`` the share of recordings that a system
refuses for their language. Speech of ``--real`` has no phones. All with 95 % intervals over
speakers.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr
import torch
from other_languages import ALTERNATING, LONG, RATE, SWITCHED, VOICES, corpus, sentences

from voicenym import Audio, load
from voicenym.attack.attackers import Ignorant, LazyInformed, Unprotected
from voicenym.attack.scenario import Protection, Scenario
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.recording import Recording
from voicenym.corpus.recordings import recordings
from voicenym.corpus.transforms import ORIGINAL, Transform
from voicenym.evaluation.evaluation_plan import key
from voicenym.evaluation.measurements.protection import split
from voicenym.evaluation.trial_plans.trials import build
from voicenym.metrics.intervals.bootstrap_draws import Drawn, replicate, share
from voicenym.metrics.intervals.interval import percentiles
from voicenym.metrics.utility.opinion import rating
from voicenym.metrics.verification.eer import equal_error
from voicenym.metrics.words.phone_error_rate import phone_counts
from voicenym.nets.words.phone_states.phone_model import PhoneModel
from voicenym.nets.words.phone_states.phones import SILENCE, Phone, States
from voicenym.recognition.language_models.ngram import NGram
from voicenym.recognition.phones.phone_loop import LoopSettings, tuned
from voicenym.recognition.phones.pronunciation_graph import graph, uniform
from voicenym.recognition.phones.viterbi import best
from voicenym.training.run.fit import Outcome
from voicenym.training.speech.aligned_dataset import aligned, shares
from voicenym.training.speech.speech_cache import SpeechCache
from voicenym.training.words.train_hybrid import HybridConfig, train
from voicenym.verification.vector_store import VectorCache
from voicenym.verification.verifiers import verifier

LANGUAGES = ("en", "ar", "de", "es", "fr", "pl", "zh_Hans")
LEARNT = ("Alex", "Andrea", "Annie", "Diogo", "Gene", "Henrique", "Jacky", "Marco", "Mario",
          "Michael", "adam", "anika", "antonio", "belinda", "benjamin", "boris", "caleb", "david",
          "ed", "iven", "john", "linda", "max", "norbert")  # fmt: skip
"""Variants of espeak-ng's voices for the network; those for the measurement are others."""
LIBRARY = {"en": "en-us", "fr": "fr"}
"""Names of voices where the library knows others than the program."""
SENTENCES, OF_TESTS = 20, 6
"""Sentences of a speaker for the network, and for the measurement."""
EVERY = 3
"""Of so many sentences, one is for the measurement."""
SYNCHRONOUS, WITH_PHONES, IPA = 2, 1, 2
PHONE, SPEED, PITCH, CHARACTERS, UTF8 = 7, 1, 3, 1, 1
"""Numbers of espeak-ng's interface: modes, kind of event, parameters, units, encoding."""


class Named(ctypes.Union):
    """What an event of espeak-ng names."""

    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("text", ctypes.c_char * 8))


class Event(ctypes.Structure):
    """Event of espeak-ng: a phone begins at a sample."""

    _fields_ = (
        ("kind", ctypes.c_int), ("identifier", ctypes.c_uint), ("position", ctypes.c_int),
        ("length", ctypes.c_int), ("milliseconds", ctypes.c_int), ("sample", ctypes.c_int),
        ("own", ctypes.c_void_p), ("named", Named),
    )  # fmt: skip


class Reader:
    """espeak-ng as a library, which tells the phones that it speaks.

    Args:
        library: its file.
    """

    def __init__(self, library: str = "libespeak-ng.so.1") -> None:
        self._library = ctypes.CDLL(library)
        self._rate = self._library.espeak_Initialize(SYNCHRONOUS, 0, None, WITH_PHONES | IPA)
        self._samples: list[np.ndarray] = []
        self._begun: list[tuple[str, int]] = []
        kind = ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event)
        )
        self._heard = kind(self._hear)
        self._library.espeak_SetSynthCallback(self._heard)

    def _hear(self, samples: Any, count: int, events: Any) -> int:
        if samples and count:
            self._samples.append(np.ctypeslib.as_array(samples, (count,)).copy())
        place = 0
        while events[place].kind:
            event = events[place]
            if event.kind == PHONE:
                text = bytes(ctypes.string_at(ctypes.addressof(event.named), 8)).split(b"\0")[0]
                self._begun.append((text.decode("utf-8", "replace"), event.sample))
            place += 1
        return 0

    def read(self, text: str, voice: str, speed: int, pitch: int) -> tuple[np.ndarray, list[Phone]]:
        """Samples ``[time]`` at 16 kHz and phones of a sentence; none where there is no such
        voice, or where it reads a part in another language.
        """
        self._samples, self._begun = [], []
        if self._library.espeak_SetVoiceByName(voice.encode()):
            return np.zeros(0, np.float32), []
        self._library.espeak_SetParameter(SPEED, speed, 0)
        self._library.espeak_SetParameter(PITCH, pitch, 0)
        given = text.encode()
        self._library.espeak_Synth(given, len(given) + 1, 0, CHARACTERS, 0, UTF8, None, None)
        if not self._samples or any(SWITCHED.fullmatch(name) for name, _ in self._begun):
            return np.zeros(0, np.float32), []
        samples = np.concatenate(self._samples).astype(np.float32) / 32768.0
        ends = [*(first for _, first in self._begun[1:]), len(samples)]
        phones = [
            Phone(plain(name), first / self._rate, end / self._rate)
            for (name, first), end in zip(self._begun, ends, strict=True)
            if end > first
        ]
        return soxr.resample(samples, self._rate, RATE), phones


def plain(name: str) -> str:
    """A phone's name without stress and tone; silence for pauses."""
    kept = "".join(c for c in name if c not in "ˈˌ_:|;,-'" and not c.isdigit())
    kept = kept if kept.startswith("ɜ") else kept.rstrip("ɜ")  # the sign of a tone, too
    return {"??": "ʔ"}.get(kept, kept) or SILENCE


def texts(translations: Path) -> dict[str, list[str]]:
    """Sentences by language, originals as English."""
    found: dict[str, list[str]] = {}
    originals: set[str] = set()
    for language in LANGUAGES[1:]:
        pairs = []
        for file in sorted(translations.rglob(f"{language}/LC_MESSAGES/*.po")):
            pairs += [pair for pair in sentences(file) if LONG <= len(pair[0]) <= 4 * LONG]
        found[language] = [translation for _, translation in pairs]
        originals |= {original for original, _ in pairs}
    return {"en": sorted(originals), **found}


def speak(options: argparse.Namespace) -> None:
    """Write the corpus: learn.tsv, test.tsv, and the phones of every recording."""
    reader = Reader()
    rows: dict[str, list[tuple[str, ...]]] = {"learn": [], "test": []}
    spoken: dict[str, list[tuple[str, float, float]]] = {}
    for language, lines in texts(options.translations).items():
        voice = {**VOICES, **LIBRARY}.get(language, language)
        plan = [("learn", variant, None) for variant in LEARNT]
        plan += [("test", variant, turn) for turn in (0, 1) for variant in ALTERNATING]
        for side, variant, turn in plan:
            rng = np.random.default_rng([0, *f"{voice} {side} {variant} {turn}".encode()])
            pitch = int(rng.integers(25, 75)) if turn is None else 35 + 30 * turn
            speaker = f"{language}-{variant}-{pitch}"
            count = SENTENCES if turn is None else OF_TESTS
            for place in rng.permutation(len(lines)):
                if (place % EVERY == 0) != (side == "test"):
                    continue
                speed = int(rng.integers(140, 185))
                samples, phones = reader.read(lines[place], f"{voice}+{variant}", speed, pitch)
                if not phones:
                    continue
                name = f"{speaker}-{place}"
                path = options.output / language / f"{name}.flac"
                path.parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(path, samples * rng.uniform(0.3, 1.0), RATE)
                spoken[name] = [(n, round(a, 4), round(b, 4)) for n, a, b in phones]
                sex = variant[0] if side == "test" else ""
                where = str(path.relative_to(options.output))
                rows[side].append((name, where, speaker, corpus(voice), lines[place], sex))
                count -= 1
                if not count:
                    break
    for side, some in rows.items():
        columns = ("utterance", "path", "speaker", "corpus", "text", "gender")
        text = "\n".join("\t".join(one) for one in [columns, *some])
        (options.output / f"{side}.tsv").write_text(text + "\n", "utf-8")
        print(f"{side}: {len(some)} recordings")
    (options.output / "phones.json").write_text(json.dumps(spoken, ensure_ascii=False), "utf-8")


def phones_of(folder: Path) -> dict[str, list[Phone]]:
    """Phones of every recording by its name."""
    read = json.loads((folder / "phones.json").read_text("utf-8"))
    return {name: [Phone(*one) for one in phones] for name, phones in read.items()}


def named(phones: Sequence[Phone]) -> list[str]:
    return [phone.name for phone in phones if phone.name != SILENCE]


def learn(options: argparse.Namespace) -> None:
    """Train the network on the phones of all languages and choose its search's settings."""
    spoken = phones_of(options.spoken)
    found = recordings(options.spoken / "learn.tsv", None, "")
    kept = [r for r in found if r.speaker.split("-")[1] in LEARNT[::8]]
    given = [r for r in found if r.speaker.split("-")[1] not in LEARNT[::8]]
    cache = SpeechCache(options.output / "speech")
    sides = []
    for some in (given, kept):
        utterances = cache.fill(some, ORIGINAL)
        sides.append(aligned(utterances, [spoken[u.recording.name] for u in utterances], 20.0)[0])
    states = States(tuple(sorted({name for one in sides[0] for name in named(one.phones)})))
    config = HybridConfig(options={"width": 192}, batch=8, rate=2e-3, every=200, steps=4000,
                          speeds=(0.8, 1.2))  # fmt: skip
    model = PhoneModel.make(states, config.options, shares(sides[0], states, config.smoothing))
    outcome: Outcome = train(
        model, sides[0], sides[1], config, options.output, seconds=60.0 * options.minutes, say=print
    )
    some = [(one.speech.samples(), [[" ".join(named(one.phones))]]) for one in sides[1][::4]]
    settings, rate = tuned(model, some)
    model.save(options.output, settings=dataclasses.asdict(settings))
    about = f"{len(states.phones)} phones, {outcome.steps} steps, {len(sides[0])} recordings"
    print(f"{about}; PER {rate:.1f} % of voices kept out, phones of all languages; {settings}")


class Phones:
    """Recogniser of the phones of one language.

    Args:
        folder: of the network.
        names: the phones of the language.
    """

    def __init__(self, folder: Path, names: set[str]) -> None:
        self.model, config = PhoneModel.load(folder)
        known = sorted(names & set(self.model.states.phones))
        chosen = LoopSettings(**config["settings"])
        # the bonus was chosen where each phone has the probability of one among all languages'
        more = np.log(len(self.model.states.phones) / len(known))
        self.settings = dataclasses.replace(chosen, bonus=chosen.bonus - more)
        loop: NGram = uniform(known)
        self._graph = graph({name: [name] for name in known}, loop, self.model.states)

    def __call__(self, samples: np.ndarray) -> list[str]:
        frames = self.model.log_probs(torch.from_numpy(samples))
        likely = frames - self.settings.priors * self.model.priors
        return best(self._graph, likely, bonus=self.settings.bonus)


def languages(options: argparse.Namespace) -> Iterator[tuple[str, list[Recording]]]:
    """Corpora of the test and of real speech."""
    by_corpus: dict[str, list[Recording]] = defaultdict(list)
    for recording in recordings(options.spoken / "test.tsv", None, ""):
        by_corpus[recording.corpus].append(recording)
    for source in options.real:
        place, _, name = source.rpartition("=")
        by_corpus[name] = recordings(Path(place), None, name)
    for name in options.language or by_corpus:
        yield name, by_corpus[name]


def row(label: str, cells: Sequence[str]) -> None:
    print("| " + " | ".join((label, *cells)) + " |", flush=True)


def cell(figure: Drawn | None, replicates: int, unit: float = 1.0) -> str:
    """A figure with its interval, as ``12.3 (10.1 to 14.5)``.

    Args:
        figure: None for an empty cell.
        replicates: of the bootstrap.
        unit: that many of the unit of the table are one of the figure's.
    """
    if figure is None:
        return ""
    low, high = percentiles(replicate([figure], replicates, 0)[0])
    return f"{unit * figure.value:.1f} ({unit * low:.1f} to {unit * high:.1f})"


def predicted(sounds: Sequence[np.ndarray], people: Sequence[str]) -> Drawn:
    """DNSMOS of some recordings, without those too short for it."""
    found = [(one[0], who) for x, who in zip(sounds, people, strict=True) if (one := rating(x))]
    return share([value for value, _ in found], np.ones(len(found)), [who for _, who in found])


def measure(options: argparse.Namespace) -> None:
    """Print a table for each language."""
    spoken = phones_of(options.spoken)
    with Embedder(VectorCache(options.cache)) as embedder:
        voice = verifier("ecapa-small")
        for name, speech in languages(options):
            trials = build(speech, enrolment=options.enrolment, trials=options.tried, seed=0)
            tried = trials.recordings
            people = [r.speaker for r in tried]
            own = {phone for r in speech for phone in named(spoken.get(r.name, []))}
            ears = Phones(options.phones, own) if own else None
            print(f"\n{name}: {len(trials.models)} speakers, {len(tried)} recordings tried, "
                  f"{len(own)} phones\n")  # fmt: skip
            row("", ("PER, %", "EER ignorant, %", "EER lazy-informed, %", "DNSMOS"))
            row("---", ["---"] * 4)
            for system in ["original", *options.system]:
                if system == "original":
                    shield, attackers = Protection(Transform()), [Unprotected()]
                else:
                    shield = Protection.by(system, key(0, "user"), "speaker", ())
                    attackers = [Ignorant(), LazyInformed()]
                case = Scenario(trials.models, tried, shield, key(0, "attacker"), ())
                rates = [
                    equal_error(*split(one.scores(case, voice, embedder), trials))
                    for one in attackers
                ]
                sounds = [np.asarray(shield.transform(r), np.float32) for r in tried]
                errors: Drawn | None = None
                if ears is not None:
                    counts = np.array([
                        phone_counts([[" ".join(named(spoken[r.name]))]], ears(x))
                        for r, x in zip(tried, sounds, strict=True)
                    ])  # fmt: skip
                    errors = share(100.0 * counts[:, :3].sum(1), counts[:, 3], people)
                opinion = predicted(sounds[:: options.tried], people[:: options.tried])
                times = options.replicates
                protection = [cell(one, times, 100.0) for one in rates]
                if len(rates) == 1:
                    protection.append("")
                row(system, [cell(errors, times), *protection, cell(opinion, times)])
            for system in options.refusals:
                judge = load(system)
                no = [judge.refuses(Audio(torch.from_numpy(r.samples()), RATE)) for r in tried]
                print(f"\n{system} refuses {sum(one is not None for one in no)} of {len(no)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(required=True)
    one = steps.add_parser("speak")
    one.add_argument("--translations", type=Path, required=True)
    one.add_argument("-o", "--output", type=Path, required=True)
    one.set_defaults(step=speak)
    one = steps.add_parser("learn")
    one.add_argument("spoken", type=Path)
    one.add_argument("-o", "--output", type=Path, required=True)
    one.add_argument("--minutes", type=float, default=8.0)
    one.set_defaults(step=learn)
    one = steps.add_parser("measure")
    one.add_argument("spoken", type=Path)
    one.add_argument("--phones", type=Path, required=True)
    one.add_argument("--real", action="append", default=[], metavar="SPEECH=CORPUS")
    one.add_argument("--system", action="append", default=[])
    one.add_argument("--language", action="append", default=[], help="corpus; default: all")
    one.add_argument("--enrolment", type=int, default=3)
    one.add_argument("--tried", type=int, default=3)
    one.add_argument("--refusals", action="append", default=[], metavar="SYSTEM")
    one.add_argument("--cache", type=Path, default=None)
    one.add_argument("--replicates", type=int, default=1000)
    one.set_defaults(step=measure)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    options.step(options)


if __name__ == "__main__":
    main()
