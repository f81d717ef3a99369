"""Recipe: one training, from its options to its result.

A recipe is a frozen dataclass. Its fields are the options of ``voicenym train NAME`` and of
:func:`voicenym.train`; its docstring is their help. ``run`` does the whole training: it collects
the recordings, splits the speakers, prepares the speech, trains, and saves the result and its card.
This module, :mod:`voicenym.training.recipe_options` and those of the recipes import no torch, so
that their help is quick.
"""

from __future__ import annotations

import math
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from voicenym.nets.names_and_paths import as_path
from voicenym.training.run.progress_report import Report

if TYPE_CHECKING:
    from voicenym.training.run.fit import Outcome


@dataclass(frozen=True)
class Trained:
    """Result of a recipe.

    Args:
        folder: of the weights, with their card.
        steps: of the training, a batch each, those of earlier runs in this folder included; 0 for
            methods without.
        figures: measured on held-out speakers, by name; the first is that which chose the weights.
        lines: further results for the terminal.
        details: rows of figures: those of the validations, or of the models that were compared.
        seconds: spent in this run; 0 for methods without steps.
        finished: whether the training came to its end, rather than to a signal.
    """

    folder: Path
    steps: int
    figures: Mapping[str, float]
    lines: tuple[str, ...] = ()
    details: Sequence[Any] = ()
    seconds: float = 0.0
    finished: bool = True

    def summary(self) -> list[str]:
        """Lines for the end of a run: further results, the price, the first figure, the folder.

        Example:
            >>> Trained(Path("net"), 40, {"EER % on held-out speakers": 1.0}, seconds=90).summary()
            ['trained: 40 steps, 1.5 min', 'result: EER 1.00 % on held-out speakers', 'written ...
        """
        lines = list(self.lines)
        if self.steps:
            lines.append(f"trained: {self.steps} steps, {self.seconds / 60:.1f} min")
        for name, value in list(self.figures.items())[:1]:
            if not math.isnan(value):
                lines.append(f"result: {_figure(name, value)}")
        if not self.finished:
            lines.append("interrupted: the same command continues the training")
        return [*lines, f"written to: {self.folder}"]


def _figure(name: str, value: float) -> str:
    """``EER 12.34 % on held-out speakers`` of ``EER % on held-out speakers``."""
    quantity, on, rest = name.partition(" on ")
    if quantity.endswith(" %"):
        return f"{quantity[:-2]} {value:.2f} %{on}{rest}"
    return f"{quantity} {value:.4g}{on}{rest}"


def assembling(part: str, folder: Path, pipeline: Path | None = None) -> str:
    """Line for the end of a run: the command that adds its result to a pipeline.

    Args:
        part: of the pipeline.
        folder: of the result.
        pipeline: its folder; None for any.

    Example:
        >>> assembling("live", Path("my live"))
        "add it: voicenym models assemble --live './my live' -o PIPELINE"
    """
    place = "PIPELINE" if pipeline is None else shlex.quote(as_path(pipeline))
    return f"add it: voicenym models assemble --{part} {shlex.quote(as_path(folder))} -o {place}"


def option(
    *flags: str,
    default: Any = MISSING,
    minimum: float | None = None,
    maximum: float | None = None,
    positional: bool = False,
    teacher: bool | tuple[str, ...] = False,
    old_flags: Sequence[str] = (),
) -> Any:
    """A field of a recipe.

    Args:
        flags: on the command line; by default the field's name.
        default: of the field; it is required without one.
        minimum, maximum: allowed values.
        positional: whether it is an argument of the command and has no flag.
        teacher: whether it names a frozen network, which a resumed run must find unchanged
            (:mod:`voicenym.training.run.teacher_check`); of a pipeline, the parts that are read.
        old_flags: earlier flags, which still work.
    """
    about = {
        "flags": flags,
        "minimum": minimum,
        "maximum": maximum,
        "positional": positional,
        "teacher": teacher,
        "old_flags": tuple(old_flags),
    }
    return field(default=default, metadata=about)


@dataclass(frozen=True, kw_only=True)
class Recipe(ABC):
    """A training.

    Args:
        output: Folder of weights, checkpoints and logs.
    """

    example: ClassVar[str] = ""
    """Options of an example, for the help."""
    configuration: ClassVar[str] = ""
    """Dataclass of the configuration file, ``module:Class``."""
    section: ClassVar[str] = "Options"
    """Heading of the options that a class adds."""

    output: Path = option("--output", "-o")

    @abstractmethod
    def run(self, report: Report) -> Trained:
        """Train, and save the result in the output folder.

        Raises:
            VoicenymError: options, data or a folder that cannot be used; it names the cure.
        """

    def result(self, outcome: Outcome, figures: Mapping[str, float], *lines: str) -> Trained:
        """The result of a training in steps.

        Args:
            outcome: of the steps.
            figures, lines: as of :class:`Trained`.
        """
        return Trained(
            self.output,
            outcome.steps,
            figures,
            lines,
            outcome.curve,
            outcome.seconds,
            outcome.finished,
        )
