"""Diarization error rates on conversations with known truth, by number of speakers.

Found: docs/measuring/diarization.md.

    pip install pyannote.metrics
    python benchmarks/studies/diarization/diarization.py --speech DIR [--half report]
        [--conversations 8] [--cache FILE]

Conversations are mixed by :mod:`diarization_mixtures`, of speakers of one half of speechocean762's
``dev``: settings and the PLDA know the other half (tune). DER is that of pyannote.metrics (Bredin,
Interspeech 2017), once with a collar of 0.25 s on either side of a border, overlaps left out where
the conversation has none, and once without a collar. Each clustering works on the same windows.
What stays audible is counted as ``anonymize --rttm`` treats it: possible speech of nobody's turn is
what the detector finds or what stands out (:mod:`voicenym.diarization.possible_speech`).
"""

from __future__ import annotations

import argparse
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from diarization_mixtures import Condition, conversation, speakers_of

from voicenym.diarization.clustering.clusterings import CLUSTERINGS
from voicenym.diarization.possible_speech import SoundDetector, possible_speech
from voicenym.diarization.recording_analysis import Analysis, analyse
from voicenym.diarization.speaker_turns import Diarization
from voicenym.diarization.treatments import Treatment, choice, plan
from voicenym.diarization.window_turns import turns_of
from voicenym.nets.speakers.speaker_encoders import SMALL, load

BLOCK = 160_000
RATE = 100
"""Samples a second of the masks that :func:`audible` counts."""
ADULTS = (
    *(Condition(n) for n in (1, 2, 3, 4, 5)),
    *(Condition(n, overlap=True) for n in (2, 3, 4, 5)),
    *(Condition(n, snr=10.0) for n in (2, 4)),
)
CHILDREN = tuple(Condition(n) for n in (2, 3, 4, 5))
Regions = npt.NDArray[np.float64]
Case = tuple[Condition, Analysis, Regions, Diarization]
"""Condition, analysis, possible speech ``[region, (start, end)]`` and the true turns."""


def cases(options: argparse.Namespace, adults: bool) -> Iterator[Case]:
    """Conversations, analysed; kept in a file where one is given."""
    kept: dict[Any, tuple[Analysis, Regions, Diarization]] = {}
    if options.cache is not None and options.cache.is_file():
        kept = pickle.loads(options.cache.read_bytes())  # noqa: S301, one's own
    people = speakers_of(options.speech, options.half, adults)
    encoder = load(SMALL).eval()
    for condition in ADULTS if adults else CHILDREN:
        for seed in range(options.conversations):
            key = (options.half, adults, condition, seed)
            if key not in kept:
                sound, truth = conversation(people, condition, seed)
                signal = torch.from_numpy(sound)
                found = analyse(lambda s=signal: s.split(BLOCK), encoder)
                kept[key] = (found, possible(signal, found.seconds), truth)
                if options.cache is not None:
                    options.cache.write_bytes(pickle.dumps(kept))
            yield condition, *kept[key]


def possible(signal: torch.Tensor, seconds: float) -> Regions:
    """Possible speech of a signal ``[time]`` at 16 kHz, as the command finds it."""
    detector = SoundDetector(float(signal.abs().max()))
    for block in signal.split(BLOCK):
        detector.push(block)
    return possible_speech([detector], seconds)


def annotation(found: Diarization) -> Any:
    """Turns as pyannote's annotation."""
    from pyannote.core import Annotation, Segment

    made = Annotation()
    for number, turn in enumerate(found.turns):
        made[Segment(turn.start, turn.end), number] = turn.speaker
    return made


DEFAULT = "speakers"
ROWS = (DEFAULT, *CLUSTERINGS)
"""The command with its defaults, which marks overlaps, and clusterings without marked overlaps."""


def clustered(row: str, found: Analysis, count: int | None) -> Diarization:
    """Turns of a row of the tables."""
    if row != DEFAULT:
        return turns_of(found, CLUSTERINGS[row](found.vectors, count), overlaps=False)
    own = "vbx" if count is None else "spectral"
    return turns_of(found, CLUSTERINGS[own](found.vectors, count))


def table(some: list[Case], row: str, known: bool) -> None:
    """Prints a line for each condition."""
    from pyannote.metrics.diarization import DiarizationErrorRate

    conditions = list(dict.fromkeys(condition for condition, *_ in some))
    for condition in conditions:
        lenient = DiarizationErrorRate(collar=0.5, skip_overlap=not condition.overlap)
        strict = DiarizationErrorRate()
        each, right = [], 0
        own = [case for case in some if case[0] == condition]
        for _, analysis, _, truth in own:
            count = condition.speakers if known else None
            found = clustered(row, analysis, count)
            each.append(100 * lenient(annotation(truth), annotation(found)))
            strict(annotation(truth), annotation(found))
            right += len(found.speakers) == condition.speakers
        parts = lenient.accumulated_
        missed, false, wrong = (
            100 * parts[name] / parts["total"]
            for name in ("missed detection", "false alarm", "confusion")
        )
        spread = np.random.default_rng(0).choice(each, (1000, len(each))).mean(1)
        low, high = np.percentile(spread, (2.5, 97.5))
        print(
            f"{row:13} {'known' if known else 'found':5} {condition.speakers} "
            f"{'overlap' if condition.overlap else '       '} "
            f"{'' if condition.snr is None else f'{condition.snr:.0f} dB':5} "
            f"DER {100 * abs(lenient):5.1f} [{low:4.1f}, {high:4.1f}]  missed {missed:4.1f}  "
            f"false {false:4.1f}  confused {wrong:4.1f}  no collar {100 * abs(strict):5.1f}  "
            f"number right {right}/{len(own)}",
            flush=True,
        )


def audible(some: list[Case], known: bool) -> None:
    """Prints how much speech of a hidden person stays audible by turns that nobody has checked.

    Each speaker in turn is hidden by the label that overlaps most with the truth, all others are
    kept, and uncertain parts are hidden, as by ``anonymize --rttm --only``.
    """
    for condition in dict.fromkeys(condition for condition, *_ in some):
        if condition.speakers < 2:
            continue
        left = total = others = hidden = 0.0
        for own, analysis, speech, truth in some:
            if own != condition:
                continue
            count = condition.speakers if known else None
            found = clustered(DEFAULT, analysis, count)
            frames = round(analysis.seconds * RATE)
            for person in truth.speakers:
                label = max(found.speakers, key=lambda who: _shared(truth, person, found, who))
                parts = plan(found, choice(found, only=[label]), RATE, frames, speech)
                mask = np.zeros(frames, bool)
                for part in parts:
                    mask[part.start : part.end] = part.treatment is not Treatment.KEEP
                own_speech, other = (
                    _mask(truth, frames, {person}),
                    _mask(truth, frames, {person}, 1),
                )
                left += (own_speech & ~mask).sum()
                total += own_speech.sum()
                hidden += (other & ~own_speech & mask).sum()
                others += (other & ~own_speech).sum()
        print(
            f"audible       {'known' if known else 'found':5} {condition.speakers} "
            f"{'overlap' if condition.overlap else '       '} "
            f"{'' if condition.snr is None else f'{condition.snr:.0f} dB':5} "
            f"of the hidden {100 * left / total:5.1f} %  hidden of others "
            f"{100 * hidden / others:5.1f} %",
            flush=True,
        )


def _shared(truth: Diarization, person: str, found: Diarization, who: str) -> float:
    """Seconds in which a person speaks and a label says so."""
    return sum(
        max(0.0, min(a.end, b.end) - max(a.start, b.start))
        for a in truth.turns
        if a.speaker == person
        for b in found.turns
        if b.speaker == who
    )


def _mask(truth: Diarization, frames: int, people: set[str], others: int = 0) -> np.ndarray:
    """Samples at :data:`RATE` in which the people speak, or the others."""
    mask = np.zeros(frames, bool)
    for turn in truth.turns:
        if (turn.speaker in people) != bool(others):
            mask[round(turn.start * RATE) : round(turn.end * RATE)] = True
    return mask


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--half", choices=("tune", "report"), default="report")
    parser.add_argument("--conversations", type=int, default=8)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    options = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parent))
    for adults in (True, False):
        print("adults" if adults else "children")
        some = list(cases(options, adults))
        for known in (False, True):
            for row in options.rows:
                table(some, row, known)
            if DEFAULT in options.rows:
                audible(some, known)


if __name__ == "__main__":
    main()
