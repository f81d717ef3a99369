"""Finds which input streams of ``base``'s synthesizer identify the speaker, by changing one.

Found: i-vectors use neither intonation nor the noise of pauses; the prosody attacker uses both
(``docs/research/base.md``).

    pip install -e .[evaluate,train]
    python benchmarks/studies/speakers/streams.py monotone -o report/ SPEECH --split dev \
        --half report --pool SPEECH --pool-split train --attacker i-vector --attacker prosody

The rest of the line is that of ``voicenym evaluate``, without a system; the change applies to user
and attackers alike. A rising error rate shows that attackers used the changed stream:

- ``as-it-is``: nothing is changed.
- ``monotone``: pitch stays at the voice's register wherever there is any.
- ``pauses``: pauses keep the noise of their room, without equal levels.
- ``levels``: a recording's levels come to be spread as everybody's are: the louder frame stays the
  louder one, how much louder is no longer the speaker's.
- ``content``: a recording's content keeps its own mean and covariance, as before it was made alike.

The report's folder is its own: what is cached there is not what ``base`` says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from voicenym.apps.cli import main
from voicenym.nets.content.bottleneck import AcousticFrames
from voicenym.resynthesis.bundled import base_core, content_normalisation
from voicenym.resynthesis.common import pauses
from voicenym.resynthesis.common.averages import Averages, Sums

LEVELS = np.array([
    -23.26, -10.68, -10.12, -9.80, -9.47, -9.14, -8.80, -8.43, -8.01, -7.54, -7.02, -6.43, -5.82,
    -5.20, -4.61, -4.04, -3.52, -3.02, -2.56, -2.13, -1.72, -1.35, -1.00, -0.66, -0.36, -0.08,
    0.16, 0.37, 0.55, 0.71, 0.86, 1.00, 1.13, 1.26, 1.39, 1.52, 1.67, 1.85, 2.06, 2.37, 4.89,
])  # fmt: skip
"""Fortieths of everybody's, pauses quiet: speechocean762's train; natural logarithm of power, less
the recording's average."""
SHARES = np.linspace(0.0, 1.0, len(LEVELS))
FRAMES = 100.0
"""Of everybody's, added to a recording's own."""


def monotone(
    f0: torch.Tensor,
    mean: torch.Tensor,
    std: torch.Tensor,
    to_mean: torch.Tensor,
    to_std: torch.Tensor,
) -> torch.Tensor:
    """In place of :func:`voicenym.dsp.pitch.f0_statistics.moved_within`."""
    return torch.where(f0 > 0, to_mean[:, None].exp().to(f0), 0.0)


def kept(level: torch.Tensor, lowest: torch.Tensor) -> torch.Tensor:
    """In place of :func:`voicenym.resynthesis.common.pauses.quieted`."""
    return level


def said(
    everybody: content_normalisation.ContentStatistics,
    numbers: torch.Tensor,
    way: content_normalisation.Map,
) -> torch.Tensor:
    """Stands in for the normalisation of content: it returns the features unchanged."""
    return numbers


def spread_alike() -> None:
    """Levels go where as large a share of everybody's lies below; for files, not for streams."""
    counts: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
    now: list[Averages | None] = [None]
    hear, average = base_core.ResynthesisCore._content, Sums.averages

    def averages(sums: Sums) -> Averages:
        made = average(sums)
        counts[id(made.power)] = made.power, sums.levels.clone()  # keeps the tensor, so its id
        return made

    def content(this: base_core.ResynthesisCore, heard: AcousticFrames) -> None:
        now[0] = this._averages
        hear(this, heard)

    def moved(level: torch.Tensor, lowest: torch.Tensor) -> torch.Tensor:
        known = now[0]
        assert known is not None, "streams have no levels yet"
        rows = zip(level, known.power, counts[id(known.power)][1], strict=True)
        found = [as_everybodys(x.numpy(), float(p), own.numpy()) for x, p, own in rows]
        return torch.from_numpy(np.stack(found)).to(level)

    Sums.averages = averages  # type: ignore[method-assign, assignment]
    base_core.ResynthesisCore._content = content  # type: ignore[method-assign, assignment]
    pauses.quieted = moved


def as_everybodys(
    level: npt.NDArray[np.floating], power: float, own: npt.NDArray[np.floating]
) -> npt.NDArray[np.floating]:
    """Levels ``[frame]`` of a recording of average ``power``, whose frames are counted ``own``."""
    edges = pauses.LOWEST + pauses.WIDTH * np.arange(len(own) + 1) - power
    below = np.concatenate([[0.0], own.cumsum()])
    share = (below + FRAMES * np.interp(edges, LEVELS, SHARES)) / (own.sum() + FRAMES)
    low, high = np.interp([1e-4, 1.0 - 1e-4], share, edges)
    inside = np.interp(np.interp(level, edges, share), SHARES, LEVELS)
    quiet = np.minimum(LEVELS[0], level - low + LEVELS[0])
    found: npt.NDArray[np.floating] = np.where(level < low, quiet, inside)
    return np.where(level > high, level - high + LEVELS[-1], found)


CHANGES = {
    "as-it-is": lambda: None,
    "monotone": lambda: setattr(base_core, "moved_within", monotone),
    "pauses": lambda: setattr(pauses, "quieted", kept),
    "levels": spread_alike,
    "content": lambda: setattr(content_normalisation.ContentStatistics, "forward", said),
}
OURS = ("--cache", "--workers", "--system", "--all")


def run(words: list[str]) -> None:
    """Evaluate under a change."""
    if not words or words[0] not in CHANGES:
        sys.exit(f"the first word is one of: {', '.join(CHANGES)}; the rest goes to evaluate")
    # in workers nothing would be changed, and a shared cache would take one for the other
    if any(word.split("=")[0] in OURS or word[:2] in ("-j", "-s") for word in words):
        sys.exit("one process, a cache of its own and base: leave these options out")
    CHANGES[words[0]]()
    sys.argv = [str(Path(sys.argv[0])), "evaluate", *words[1:], "--system", "base"]
    main()


if __name__ == "__main__":
    run(sys.argv[1:])
