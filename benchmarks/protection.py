"""Protection and intelligibility of the systems on real speech, by the simple measurement.

    pip install -e .[evaluate]; pip install --no-deps resemblyzer
    python benchmarks/protection.py --speech DIR [--system NAME ...] [--half tune] [--write]

Attackers, with Resemblyzer's encoder and trials within one sex, on speechocean762's ``dev``:

- ``ignorant``: enrols with original speech, tries anonymized speech;
- ``lazy-informed``: enrols with speech anonymized by the same system with a key of its own.

Each speaker enrols with 8 utterances and is tried with 6 others, one at a time. EER is the mean of
both sexes, with a 95 % interval by bootstrap over speakers. ``dev`` is split by speaker into two
halves: systems are tuned on ``tune``, figures come from ``report``. A semi-informed attacker, who
trains on anonymized speech, is stronger than both and not part of this.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

import voicenym

RATE = 16000
ENROLMENT, TRIALS = 8, 6
REPLICATES = 1000
LOUDNESS = -30.0
ADULT = 18
WORDS_PER_SPEAKER = 8
FIGURES = Path(__file__).parents[1] / "src" / "voicenym" / "systems" / "figures.json"

Embeddings = dict[str, np.ndarray]


def key(label: str) -> voicenym.Key:
    """A benchmark's key is no secret: everyone must get the same figures."""
    return voicenym.Key(hashlib.sha256(f"voicenym benchmark {label}".encode()).digest())


def eer(target: np.ndarray, nontarget: np.ndarray) -> float:
    """Equal error rate of scores, in percent; ties count half, crossing interpolated."""
    thresholds = np.unique(np.concatenate([target, nontarget, [np.inf]]))
    target, nontarget = np.sort(target), np.sort(nontarget)
    miss = np.searchsorted(target, thresholds, "left") / len(target)
    false = 1.0 - np.searchsorted(nontarget, thresholds, "left") / len(nontarget)
    after = int(np.argmax(miss >= false))
    if after == 0:
        return 100.0 * miss[0]
    before = after - 1
    gap = (false[before] - miss[before]) - (false[after] - miss[after])
    share = (false[before] - miss[before]) / gap
    return float(100.0 * (miss[before] + share * (miss[after] - miss[before])))


def speakers(speech: Path, half: str) -> tuple[dict[str, list[dict[str, str]]], dict[str, str]]:
    """Utterances and sex of the ``dev`` speakers of a half."""
    with (speech / "manifest.tsv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t") if r["split"] == "dev"]
    by_speaker: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        by_speaker[row["speaker"]].append(row)
    names = sorted(by_speaker)
    names = {"tune": names[0::2], "report": names[1::2], "all": names}[half]
    return {n: by_speaker[n] for n in names}, {n: by_speaker[n][0]["gender"] for n in names}


def anonymized(
    system: Any, label: str, speaker: str, samples: list[np.ndarray]
) -> list[np.ndarray]:
    """Utterances ``[time]`` of a speaker through a system; the identity for ``None``."""
    if system is None:
        return samples
    pseudonym = key(label).pseudonym(speaker)
    audios = [voicenym.Audio(torch.from_numpy(x), RATE) for x in samples]
    return [system(audio, pseudonym).samples.numpy() for audio in audios]


def scores(enrol: Embeddings, trial: Embeddings, names: list[str]) -> np.ndarray:
    """Cosine scores ``[model, trial speaker, trial]``."""
    models = np.stack([enrol[n][:ENROLMENT].mean(0) for n in names])
    models /= np.linalg.norm(models, axis=1, keepdims=True)
    tests = np.stack([trial[n][ENROLMENT : ENROLMENT + TRIALS] for n in names])
    return np.einsum("md,std->mst", models, tests)


def eer_interval(matrices: list[np.ndarray]) -> tuple[float, float, float]:
    """EER averaged over sexes, and its interval by resampling speakers."""

    def value(pick: Callable[[int], np.ndarray]) -> float:
        rates = []
        for matrix in matrices:
            chosen = pick(len(matrix))
            same = chosen[:, None] == chosen[None]
            part = matrix[np.ix_(chosen, chosen)]
            rates.append(eer(part[same].ravel(), part[~same].ravel()))
        return float(np.mean(rates))

    rng = np.random.default_rng(0)
    draws = [value(lambda n: rng.integers(0, n, n)) for _ in range(REPLICATES // 5)]
    low, high = np.percentile(draws, [2.5, 97.5])
    return value(np.arange), float(low), float(high)


def measure(name: str, speech: str, half: str) -> dict[str, list[float]]:
    """All figures of one system (``original``: of no system): value, low, high."""
    from resemblyzer import VoiceEncoder

    from recognition import Recogniser, errors, vocabulary

    torch.set_num_threads(1)
    encoder = VoiceEncoder("cpu", verbose=False)
    system = None if name == "original" else voicenym.load(name)
    utterances, sex = speakers(Path(speech), half)

    def embed(samples: np.ndarray) -> np.ndarray:
        level = max(float(np.sqrt(np.mean(samples**2))), 1e-9)
        return encoder.embed_utterance(samples * (10 ** (LOUDNESS / 20) / level))

    originals = {
        n: [soundfile.read(Path(speech, r["path"]), dtype="float32")[0]
            for r in rows[: ENROLMENT + TRIALS]]
        for n, rows in utterances.items()
    }  # fmt: skip
    started, seconds = time.process_time(), 0.0
    user = {n: anonymized(system, "user", n, x) for n, x in originals.items()}
    spent = time.process_time() - started
    seconds = sum(len(x) for xs in originals.values() for x in xs) / RATE
    plain = {n: np.stack([embed(x) for x in xs]) for n, xs in originals.items()}
    hidden = {n: np.stack([embed(x) for x in xs]) for n, xs in user.items()}
    groups = [[n for n in utterances if sex[n] == s] for s in ("f", "m")]
    figures: dict[str, list[float]] = {}
    figures["EER|ignorant"] = [*eer_interval([scores(plain, hidden, g) for g in groups])]
    if system is not None:
        figures["RTF|one core, short files"] = [spent / seconds, np.nan, np.nan]
        attacker = {
            n: np.stack([embed(y) for y in anonymized(system, "attacker", n, x[:ENROLMENT])])
            for n, x in originals.items()
        }
        found = eer_interval([scores(attacker, hidden, g) for g in groups])
        figures["EER|lazy-informed"] = [*found]

    known = vocabulary()
    adults = {n: rows for n, rows in utterances.items() if int(rows[0]["age"] or 0) >= ADULT}
    texts = {
        n: [(i, r["text"].lower()) for i, r in enumerate(rows[:WORDS_PER_SPEAKER])
            if r["text"] and all(w in known for w in r["text"].lower().split())]
        for n, rows in adults.items()
    }  # fmt: skip
    recogniser = Recogniser([t for pairs in texts.values() for _, t in pairs])
    counts = np.array(
        [
            np.sum([errors(t, recogniser(user[n][i])) for i, t in pairs], axis=0)
            for n, pairs in texts.items()
            if pairs
        ],
        dtype=float,
    )
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(REPLICATES):
        part = counts[rng.integers(0, len(counts), len(counts))].sum(0)
        draws.append(100 * part[0] / part[1])
    total = counts.sum(0)
    low, high = np.percentile(draws, [2.5, 97.5])
    figures["WER|pocketsphinx, bigram of the sentences"] = [100 * total[0] / total[1], low, high]
    return figures


def rows_for_card(name: str, figures: dict[str, list[float]], half: str, count: int) -> list[dict]:
    """The figures as :class:`voicenym.system.Figure` wants them."""
    data = f"speechocean762 dev, {half} half, {count} speakers"
    rows = []
    for label, (value, low, high) in figures.items():
        metric, condition = label.split("|")
        if metric == "EER":
            attacker = "no anonymization" if name == "original" else condition
            condition = f"{attacker}, Resemblyzer, same sex"
        rows.append(
            {
                "metric": metric,
                "condition": condition,
                "value": round(value, 4 if metric == "RTF" else 2),
                "low": None if np.isnan(low) else round(low, 2),
                "high": None if np.isnan(high) else round(high, 2),
                "unit": "" if metric == "RTF" else "%",
                "data": data,
                "date": date.today().isoformat(),
            }
        )
    order = {"lazy-informed": 0, "ignorant": 1}
    return sorted(rows, key=lambda r: order.get(r["condition"].split(",")[0], 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--system", action="append", help="default: the original and all systems")
    parser.add_argument("--half", choices=["tune", "report", "all"], default="report")
    parser.add_argument("--write", action="store_true", help="put the figures on the cards")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    names = options.system or ["original", *voicenym.available()]
    count = len(speakers(options.speech, options.half)[0])
    print(
        f"{'system':16s} {'EER lazy-informed':>24s} {'EER ignorant':>24s} {'WER':>24s} {'RTF':>7s}"
    )
    written = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        arguments = (names, [str(options.speech)] * len(names), [options.half] * len(names))
        for name, figures in zip(names, pool.map(measure, *arguments), strict=True):
            cells = []
            for label in ("EER|lazy", "EER|ignorant", "WER", "RTF"):
                found = [v for k, v in figures.items() if k.startswith(label)]
                if not found:
                    cells.append("-")
                elif np.isnan(found[0][1]):
                    cells.append(f"{found[0][0]:.4f}")
                else:
                    cells.append("{:.1f} ({:.1f} to {:.1f})".format(*found[0]))
            print(
                f"{name:16s} {cells[0]:>24s} {cells[1]:>24s} {cells[2]:>24s} {cells[3]:>7s}",
                flush=True,
            )
            written[name] = rows_for_card(name, figures, options.half, count)
    if options.write:
        FIGURES.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
