r"""Measures how near its input each system's output is, beside trivial changes of speech.

Found: the thresholds of the writer; none of 90 outputs of each system is refused, and nearly all
trivial changes are (``docs/security.md``).

    VOICENYM_SPEECH=speech python benchmarks/studies/speakers/nearness.py --half tune \
        --plot docs/pictures/near-originals.png

Two sentences of each adult of speechocean762's dev split (tune or report half of the speakers)
under some keys; every segment of about a second by the two measures of
:mod:`voicenym.corpus.nearness.signal_similarity`, and every recording as the writer judges it.
``vcloak`` is judged by the bundled verifier, and shown by the signal, too.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import soundfile
import soxr
import torch

import voicenym
from voicenym.corpus.nearness.near_original import (
    MOST_SHARE,
    NEAR_CORRELATION,
    NEAR_DISTANCE,
    NearOriginalCheck,
    nearly,
)
from voicenym.corpus.nearness.segment_similarity import Segments
from voicenym.corpus.nearness.signal_similarity import SignalSimilarity
from voicenym.errors import AudioError

RATE = 16_000
ADULT = 18
SENTENCES = 2
QUANTILES = (0.001, 0.01, 0.05, 0.5)
Change = Callable[[np.ndarray], np.ndarray]


def delayed(x: np.ndarray, seconds: float) -> np.ndarray:
    return np.pad(x, (round(seconds * RATE), 0))[: len(x)]


def noisy(x: np.ndarray) -> np.ndarray:
    noise = np.random.default_rng(len(x)).standard_normal(len(x))
    return x + noise * np.sqrt((x**2).mean()) * 10 ** (-30 / 20)


def resampled(x: np.ndarray) -> np.ndarray:
    y = soxr.resample(soxr.resample(x, RATE, 11_025), 11_025, RATE)
    return np.pad(y, (0, max(0, len(x) - len(y))))[: len(x)]


def low_passed(x: np.ndarray) -> np.ndarray:
    spectrum = np.fft.rfft(x)
    spectrum[round(3000 / RATE * len(x)) :] = 0
    return np.fft.irfft(spectrum, len(x))


def all_passed(x: np.ndarray) -> np.ndarray:
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(len(x)))
    spectrum = np.fft.rfft(x)
    for a in (0.5, -0.6, 0.7, -0.8, 0.5, -0.6, 0.7, -0.8):
        spectrum = spectrum * (a + z) / (1 + a * z)
    return np.fft.irfft(spectrum, len(x))


def sped(x: np.ndarray) -> np.ndarray:
    time = np.arange(len(x))
    return np.interp(time * 1.005, time, x, right=0)


NULLS: dict[str, Change] = {
    "itself, scaled and inverted": lambda x: -0.3 * x,
    "late by 0.5 s": lambda x: delayed(x, 0.5),
    "noise at 30 dB": noisy,
    "resampled": resampled,
    "low-passed, 3 kHz": low_passed,
    "phase turned": lambda x: np.fft.irfft(np.fft.rfft(x) * 1j, len(x)),
    "all-passed": all_passed,
    "sped up by 0.5 %": sped,
}
SYSTEMS = (
    ("mcadams", 1), ("mcadams-radius", 1), ("pv-tsm", 1), ("recast", 1), ("base", 1),
    ("formant", 2), ("vtln", 2), ("formant", 1), ("vtln", 1), ("vcloak", 1),
)  # fmt: skip


def adults(folder: Path, half: str) -> list[tuple[str, np.ndarray]]:
    """Speaker and samples of the first sentences of every other adult."""
    with (folder / "manifest.tsv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    chosen: dict[str, list[Path]] = {}
    for row in rows:
        here = row["split"] == "dev" and row["corpus"] == "speechocean762"
        if here and row["age"] and int(row["age"]) >= ADULT:
            chosen.setdefault(row["speaker"], []).append(folder / row["path"])
    speakers = sorted(chosen)[half == "report" :: 2]
    paths = [(speaker, path) for speaker in speakers for path in chosen[speaker][:SENTENCES]]
    return [(speaker, soundfile.read(path, dtype="float32")[0]) for speaker, path in paths]


def segments(x: np.ndarray, y: np.ndarray) -> Segments:
    likeness = SignalSimilarity(RATE, 1, promising=math.inf, other=math.inf)
    likeness.push_input(x[None])
    likeness.push_output(y[None].astype(np.float32))
    likeness.finish()
    return likeness.found[0]


def refused(system: Any, x: np.ndarray, y: np.ndarray) -> bool:
    """The decision of the writer."""
    check = NearOriginalCheck(system, "", RATE, 1)
    check.push_input(x[None])
    check.push_output(y[None].astype(np.float32))
    try:
        check.finish()
    except AudioError:
        return True
    return False


def measured(speech: list[tuple[str, np.ndarray]], keys: int) -> dict[str, dict[str, Any]]:
    """By name: distances and correlations of segments, and how many recordings were refused."""
    plain: Any = SimpleNamespace(
        compared_by="signal", encoder=None, device="cpu", card=SimpleNamespace(name="")
    )
    jobs: list[tuple[str, Any, list[tuple[np.ndarray, np.ndarray]]]] = [
        (name, plain, [(x, change(x).astype(np.float32)) for _, x in speech])
        for name, change in NULLS.items()
    ]
    drawn = [voicenym.Key(hashlib.sha256(f"nearness {i}".encode()).digest()) for i in range(keys)]
    for name, revision in SYSTEMS:
        system = voicenym.load(name, revision=revision)
        last = revision == system.revisions[-1]
        made = [
            (
                x,
                system(
                    voicenym.Audio(torch.from_numpy(x), RATE), key.pseudonym(who)
                ).samples.numpy(),
            )
            for key in drawn
            for who, x in speech
        ]
        jobs.append((name if last else f"{name}, revision {revision}", system, made))
        print(f"  {name} {revision}", flush=True)
    found = {}
    for name, system, pairs in jobs:
        heard = [segments(x, y) for x, y in pairs]
        found[name] = {
            "distances": [d for s in heard for d in s.distances],
            "correlations": [c for s in heard for c in s.correlations],
            "near": float(np.mean([n for s in heard for n in nearly(s)])),
            "refused": sum(refused(system, x, y) for x, y in pairs),
            "recordings": len(pairs),
        }
    return found


def table(found: dict[str, dict[str, Any]]) -> str:
    """In Markdown: distances from the nearest up, correlations from the nearest down."""
    rows = [
        "| | segments | log-mel distance: 0.1 %, 1 %, 5 %, 50 % "
        "| correlation: 99.9 %, 99 %, 95 %, 50 % | near segments | refused recordings |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, told in found.items():
        distances = np.nanquantile(told["distances"], QUANTILES)
        correlations = np.nanquantile(told["correlations"], [1 - q for q in QUANTILES])
        rows.append(
            f"| {name} | {len(told['distances'])} | {', '.join(f'{d:.3f}' for d in distances)} | "
            f"{', '.join(f'{c:.2f}' for c in correlations)} | {100 * told['near']:.1f} % | "
            f"{told['refused']} of {told['recordings']} |"
        )
    return "\n".join(rows)


def plot(found: dict[str, dict[str, Any]], path: Path, title: str) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    names = list(found)
    figure, axes = plt.subplots(1, 2, figsize=(11, 6.2), sharey=True, layout="constrained")
    sides = (
        ("distances", NEAR_DISTANCE, "log-mel distance (0: the same)", "log"),
        ("correlations", NEAR_CORRELATION, "waveform correlation (1: the same)", "linear"),
    )
    for axis, (what, limit, label, scale) in zip(axes, sides, strict=True):
        for place, name in enumerate(names):
            values = np.array(found[name][what], float)
            values = values[~np.isnan(values)]
            if scale == "log":
                values = values.clip(1e-4)
            colour = "tab:red" if name in NULLS else "tab:blue"
            if name.startswith("vcloak") or "revision" in name:
                colour = "tab:gray"
            spots = np.random.default_rng(0).uniform(-0.3, 0.3, len(values)) + place
            axis.scatter(values, spots, s=3, color=colour, alpha=0.25, linewidths=0)
            axis.plot([np.median(values)] * 2, [place - 0.4, place + 0.4], color="black", lw=1.2)
        axis.axvline(limit, color="black", ls="--", lw=1)
        axis.set_xscale(scale)
        axis.set_xlabel(f"{label}; dashed: threshold {limit:g}")
        axis.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--keys", type=int, default=3)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--json", type=Path, help="where the numbers go")
    told = parser.parse_args()
    torch.set_num_threads(1)
    speech = adults(Path(os.environ["VOICENYM_SPEECH"]), told.half)
    with torch.inference_mode():
        found = measured(speech, told.keys)
    people = len({who for who, _ in speech})
    print(
        f"{told.half} half: {people} adults, {len(speech)} recordings, {told.keys} keys; near: "
        f"distance <= {NEAR_DISTANCE} or correlation >= {NEAR_CORRELATION}; refused: "
        f"{100 * MOST_SHARE:.0f} % of segments or more\n"
    )
    print(table(found))
    if told.plot:
        title = (
            f"One point a second of speech: {people} adults ({told.half} half), {told.keys} keys. "
            "Red: trivial changes; blue: systems; grey: first revisions, and vcloak"
        )
        plot(found, told.plot, title)
    if told.json:
        told.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
