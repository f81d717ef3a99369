"""An upgrade never changes a voice unsaid: known answers of every system and of every revision.

``answers.json`` holds, for each revision of each system that speaks without weights from elsewhere,
what it makes of one made-up recording under one key: the drawn parameters, the levels of bands, and
a thin comb of samples. Rounding differs from processor to processor, so these are compared within a
tolerance far below what a listener or a verifier notices. A change of any of them is a new revision:

    python tests/security/test_versions.py      # adds the answers of revisions that have none
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from voicenym import Audio, Key, load

ANSWERS = Path(__file__).with_name("answers.json")
KEY = Key(bytes(range(32)))
SPEAKER = "speaker-1"
RATE = 16_000
SECONDS = 2.4
SYSTEMS = ("base", "formant", "mcadams", "mcadams-radius", "pv-tsm", "recast", "vcloak", "vtln")
"""Those that speak without weights from elsewhere."""
EDGES = (0, 200, 400, 600, 800, 1100, 1400, 1800, 2300, 2900, 3700, 4700, 6000, 8000)
SEGMENT = 1600
COMB = 97
FLOOR = 1e-7
MOST_DECIBELS = 0.5
"""Mean difference of a band's level in a tenth of a second."""
MOST_DEVIATION = 0.1
"""RMS of the difference of samples, relative to their own."""


def speech() -> np.ndarray:
    """Four vowels, twice, with gliding pitch and a little noise, of plain arithmetic: ``[time]``."""
    count = round(SECONDS * RATE)
    time = np.arange(count) / RATE
    pitch = 132.0 * (1.0 + 0.1 * np.sin(2 * np.pi * 0.9 * time + 0.4))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    place = 4.0 * time / 1.2  # vowels a second, and where we are among them
    vowels = np.array(
        [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480)], float
    )
    share = np.clip(4.0 * (place % 1.0) - 3.0, 0.0, 1.0)[:, None]
    here, following = place.astype(int) % 4, (place.astype(int) + 1) % 4
    formants = (1.0 - share) * vowels[here] + share * vowels[following]
    signal = np.zeros(count)
    for harmonic in range(1, 45):
        hertz = harmonic * pitch
        gain = np.zeros(count)
        for i, width in enumerate((80.0, 110.0, 150.0)):
            gain += 0.6**i / (1.0 + ((hertz - formants[:, i]) / width) ** 2)
        signal += np.where(hertz < 7000, gain, 0.0) * np.cos(harmonic * phase)
    state, noise = 12345, np.zeros(count)
    for i in range(count):  # a generator of its own: libraries' may change
        state = (1103515245 * state + 12345) % (1 << 31)
        noise[i] = state / (1 << 30) - 1.0
    signal = signal * (0.6 + 0.4 * np.sin(np.pi * place) ** 2) + 0.02 * noise
    return (0.3 * signal / np.abs(signal).max()).astype(np.float32)


def levels(samples: np.ndarray) -> list[int]:
    """Tenths of a decibel, of each band of each tenth of a second."""
    parts = samples.astype(np.float64).reshape(-1, SEGMENT) * np.hanning(SEGMENT)
    power = np.abs(np.fft.rfft(parts)) ** 2 / SEGMENT
    places = [round(edge / (RATE / 2) * (power.shape[1] - 1)) for edge in EDGES]
    bands = np.add.reduceat(power, places[:-1], axis=1)
    return np.rint(100 * np.log10(bands + FLOOR)).astype(int).ravel().tolist()


def answer(name: str, revision: int | None) -> dict[str, Any]:
    """What a system makes of the recording, and what it draws."""
    system = load(name, **({} if revision is None else {"revision": revision}))
    pseudonym = KEY.pseudonym(SPEAKER)
    with torch.inference_mode():
        made = system(Audio(torch.from_numpy(speech()), RATE), pseudonym).samples.numpy()
    comb = np.rint(1e4 * made[::COMB]).astype(int).tolist()
    return {
        "weights": system.version,
        "draws": draws(system, pseudonym),
        "levels": levels(made),
        "samples": comb,
    }


def draws(system: Any, pseudonym: Any) -> list[float]:
    """The drawn parameters, exactly, where a system says them."""
    name = system.card.name
    if name == "vtln":
        omega = torch.linspace(0.0, torch.pi, 9, dtype=torch.float64)
        return [round(v, 9) for v in system.warped(pseudonym, omega).tolist()]
    if name == "pv-tsm":
        return [system.semitones(pseudonym)]
    if name.startswith("mcadams"):
        return [pseudonym.uniform("mcadams.alpha", system.low, system.high)]
    return []


def record() -> None:
    """Add the answers of revisions that have none; those that are there stay as they are."""
    known = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    for name in SYSTEMS:
        for revision in getattr(load(name), "revisions", (None,)):
            told = known.setdefault(name, {})
            told.setdefault(str(revision or 1), answer(name, revision))
    lines = [
        f'  "{name} {revision}": {json.dumps(known[name][revision])}'
        for name in sorted(known)
        for revision in sorted(known[name])
    ]
    nested = {name: known[name] for name in sorted(known)}
    del lines
    text = json.dumps(nested, indent=1)
    ANSWERS.write_text(text, "utf-8")


if __name__ == "__main__":
    record()
