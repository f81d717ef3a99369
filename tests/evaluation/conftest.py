"""A small evaluation with drawn scores, shared by tests of reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from voicenym import Key
from voicenym.attack.attackers import Ignorant, KeyHolder, Unprotected
from voicenym.attack.searches.key_search import KeySearch
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Anonymize
from voicenym.evaluation import figures
from voicenym.evaluation.evaluation_plan import Evidence
from voicenym.evaluation.measurements import protection
from voicenym.evaluation.results import Evaluation, Measured, SystemResults
from voicenym.evaluation.trial_plans.trials import Trials, build

SPEAKERS = 8
SUFFIX = "_mcadams"
SEXES = {"s0": "f", "s1": "f", "s2": "m", "s3": "m"}
"""Speakers of the challenge's layout; the others' speech is for attackers."""


def trials() -> Trials:
    return build(
        [
            Recording(f"s{s}-{u}", f"s{s}", Path("none"), "fm"[s % 2])
            for s in range(SPEAKERS)
            for u in range(7)
        ]
    )


def scores(test: Trials, distance: float, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).standard_normal(test.tested.shape)
    return noise + distance * test.target


@pytest.fixture(scope="session")
def found() -> tuple[Evaluation, Evidence]:
    """Two systems: one that an attacker sees through, one whose utility was not measured."""
    test = trials()
    evidence = Evidence(test)
    rng = np.random.default_rng(0)

    def attack(name, attackers):
        made = []
        for seed, (attacker, distance) in enumerate(attackers):
            values = scores(test, distance, seed)
            made.append(protection.measured(attacker, values, test, "Resemblyzer", 30))
            key = f"{attacker.name}, Resemblyzer"
            evidence.scores.setdefault(name, {})[key] = values
        evidence.vectors[name] = rng.standard_normal((len(test.recordings), 16))
        return made

    bare = attack("original", [(Unprotected(), 5.0)])
    systems = []
    for name, distances in (("bent <script>", (1.0, 6.0, 3.0)), ("sturdy", (0.1, 5.0, 0.3))):
        made = attack(name, zip((Ignorant(), KeyHolder(), KeySearch()), distances, strict=True))
        strongest = min(
            (a for a in made if not a.figures.holds_key), key=lambda a: a.figures.eer.value
        )
        utility = {
            "WER": Measured(40.0, 30.0, 50.0, "%"),
            "WER substitutions": Measured(25.0, 15.0, 35.0, "%"),
            "CER": Measured(22.0, 12.0, 32.0, "%"),
            "rho_F0 by chance": Measured(0.08, 0.02, 0.12),
            "D_KS": Measured(0.31, 0.21, 0.41, "share"),
            "DNSMOS": Measured(2.5, 2.0, 3.0, "of 5"),
            "G_VD": Measured(float("-inf"), float("-inf"), -2.0, "dB"),
        }
        matrix = rng.uniform(size=(SPEAKERS, SPEAKERS))
        evidence.matrices[name] = {"oo": matrix, "oa": matrix, "aa": matrix}
        systems.append(
            SystemResults(
                name,
                f"title of {name}",
                {"low": 0.5},
                "speaker",
                tuple(a.figures for a in made),
                utility if name != "sturdy" else {},
                protection.exposed(strongest.scores, test),
                ("a note & more",),
            )
        )
    evaluation = Evaluation(
        "0.1",
        "2026-11-21",
        "drawn scores",
        SPEAKERS,
        len(test.recordings),
        tuple(a.figures for a in bare),
        tuple(systems),
        {"WER": Measured(30.0, 20.0, 40.0, "%"), "DNSMOS": Measured(3.1, 3.0, 3.2, "of 5")},
        ("only 4 speakers are compared",),
    )
    return evaluation, evidence


@pytest.fixture(scope="session")
def drawn(found):
    """All figures of the small evaluation."""
    pytest.importorskip("matplotlib")
    return figures.gallery(*found)


def data_folder(place, recordings, speech):
    """A Kaldi data folder; ``speech(recording)`` gives the samples."""
    (place / "wav").mkdir(parents=True)
    tables = {"wav.scp": [], "utt2spk": [], "spk2gender": set(), "text": []}
    for recording in recordings:
        path = place / "wav" / f"{recording.name}.wav"
        soundfile.write(path, speech(recording), 16_000)
        tables["wav.scp"].append(f"{recording.name} {path}")
        tables["utt2spk"].append(f"{recording.name} {recording.speaker}")
        tables["spk2gender"].add(f"{recording.speaker} {SEXES.get(recording.speaker, 'f')}")
        tables["text"].append(f"{recording.name} THE CAT")
    for name, lines in tables.items():
        (place / name).write_text("\n".join(sorted(lines)) + "\n")


@pytest.fixture(scope="module")
def laid_out(corpus, tmp_path_factory):
    """``data`` of a challenge: two test sets, with the anonymized folders beside the originals."""
    root = tmp_path_factory.mktemp("challenge") / "data"
    keys = {kind: Key(bytes([number]) * 32) for number, kind in enumerate(("user", "attacker"))}

    def anonymized(kind, per):
        step = Anonymize("vtln", keys[kind], per)
        return lambda recording: step(recording.samples(), recording)

    def both(name, recordings, kind, per):
        data_folder(root / name, recordings, lambda recording: recording.samples())
        data_folder(root / f"{name}{SUFFIX}", recordings, anonymized(kind, per))

    evaluated = [r for r in corpus if r.speaker in SEXES]
    for number, subset in enumerate(("dev", "test")):
        enrol = [r for r in evaluated if r.name.endswith(f"u{2 * number}")]
        tried = [r for r in evaluated if r.name.endswith(f"u{2 * number + 1}")]
        both(f"libri_{subset}_enrolls", enrol, "attacker", "speaker")
        (root / f"libri_{subset}_enrolls" / "enrolls").write_text(
            "".join(f"{r.name}\n" for r in enrol)
        )
        for sex in "fm":
            mine = [r for r in tried if SEXES[r.speaker] == sex]
            both(f"libri_{subset}_trials_{sex}", mine, "user", "utterance")
            rows = [
                f"{s} {r.name} {'target' if s == r.speaker else 'nontarget'}\n"
                for s, other in SEXES.items()
                for r in mine
                if other == sex
            ]
            (root / f"libri_{subset}_trials_{sex}" / "trials").write_text("".join(rows))
    others = [r for r in corpus if r.speaker not in SEXES]
    data_folder(root / f"train-clean-360{SUFFIX}", others, anonymized("attacker", "utterance"))
    data_folder(root.parent / "train-clean-360", others, lambda recording: recording.samples())
    # what evaluate does not need, and what a command must print, must not be in its way
    (root / "IEMOCAP_dev").mkdir()
    (root / "IEMOCAP_dev" / "wav.scp").write_text("x sox x.wav -t wav - |\n")
    (root / "IEMOCAP_dev" / "utt2spk").write_text("x x\n")
    return root
