"""Which of the streams that ``base`` speaks from tells who speaks: one is changed, and attacked.

    pip install -e .[evaluate,train]
    python benchmarks/streams.py monotone -o report/ SPEECH --split dev --half report \
        --pool SPEECH --pool-split train --attacker i-vector --attacker course

The rest of the line is that of ``voicenym evaluate``, without a system; the change holds for user
and attackers alike. An error rate that rises tells that attackers went by what was changed:

- ``as-it-is``: nothing is changed.
- ``monotone``: pitch stays at the voice's register wherever there is any.
- ``pauses``: pauses keep the noise of their room, as before they were made equally quiet.
- ``content``: a recording's content keeps its own mean and covariance, as before it was made alike.

The report's folder is its own: what is cached there is not what ``base`` says.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from voicenym.apps.cli import main
from voicenym.resynthesis import core, evening, pauses


def monotone(
    f0: torch.Tensor,
    mean: torch.Tensor,
    std: torch.Tensor,
    to_mean: torch.Tensor,
    to_std: torch.Tensor,
) -> torch.Tensor:
    """In place of :func:`voicenym.dsp.pitch.register.moved_within`."""
    return torch.where(f0 > 0, to_mean[:, None].exp().to(f0), 0.0)


def kept(level: torch.Tensor, lowest: torch.Tensor) -> torch.Tensor:
    """In place of :func:`voicenym.resynthesis.pauses.quieted`."""
    return level


def said(everybody: evening.Everybody, numbers: torch.Tensor, way: evening.Map) -> torch.Tensor:
    """In place of :meth:`voicenym.resynthesis.evening.Everybody.forward`."""
    return numbers


CHANGES = {
    "as-it-is": lambda: None,
    "monotone": lambda: setattr(core, "moved_within", monotone),
    "pauses": lambda: setattr(pauses, "quieted", kept),
    "content": lambda: setattr(evening.Everybody, "forward", said),
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
