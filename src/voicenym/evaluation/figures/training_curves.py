"""Learning curves of the attackers that are trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from voicenym.evaluation.figures.svg import GREY, Palette, dashes, drawn, paper, shortened
from voicenym.evaluation.results import SystemResults

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@drawn
def learning(systems: Sequence[SystemResults], palette: Palette) -> Figure:
    """EER on protected speech of held-out speakers during the training of each attacker."""
    figure, axes = paper(3.2)
    axis = axes[0, 0]
    for system in systems:
        for attack in system.attacks:
            if attack.learning:
                axis.plot(
                    [lesson.seconds / 60 for lesson in attack.learning],
                    [lesson.eer for lesson in attack.learning],
                    color=palette.get(system.name, GREY),
                    ls=dashes(palette, system.name),
                    marker="o",
                    ms=3,
                    label=shortened(system.name),
                )
    axis.set_xlabel("minutes of training")
    axis.set_ylabel("EER, %, held-out speakers")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper right")
    return figure
