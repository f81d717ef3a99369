"""Recipe: one training, from its options to its result; and the groups of options that are shared.

A recipe is a frozen dataclass. Its fields are the options of ``voicenym train NAME`` and of
:func:`voicenym.train`; its docstring is their help. ``run`` does the whole training: it collects
the recordings, splits the speakers, prepares the speech, trains, and saves the result and its card.
This module and those of the recipes import no torch, so that their help is quick.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from voicenym.corpus.recordings import collect
from voicenym.training.run.former_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import Resources, resources

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.training.run.fit import Outcome
    from voicenym.training.speech.speech_cache import Rendering, Utterance

T = TypeVar("T")
SPEECH_FOLDER, FORMER_SPEECH_FOLDER = "speech", "shelf"
"""Folder of prepared speech within an output folder; and its name in runs of earlier releases."""


@dataclass(frozen=True)
class Trained:
    """Result of a recipe.

    Args:
        folder: of the weights, with their card.
        steps: optimizer steps, those of earlier runs in this folder included; 0 for methods
            without.
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


def option(
    *flags: str,
    default: Any = MISSING,
    minimum: float | None = None,
    maximum: float | None = None,
    positional: bool = False,
    old_flags: Sequence[str] = (),
) -> Any:
    """A field of a recipe.

    Args:
        flags: on the command line; by default the field's name.
        default: of the field; it is required without one.
        minimum, maximum: allowed values.
        positional: whether it is an argument of the command and has no flag.
        old_flags: earlier flags, which still work.
    """
    about = {
        "flags": flags,
        "minimum": minimum,
        "maximum": maximum,
        "positional": positional,
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


@dataclass(frozen=True, kw_only=True)
class DataOptions(Recipe):
    """Options of the recordings to train on.

    Args:
        data: Folder of speakers, Kaldi folder, lhotse cuts, or TSV manifest; may be repeated.
        split: Rows of a manifest to use.
        corpus: Corpora of a manifest to use; may be repeated.
        speaker_level: Depth of the folder that names the speaker: 1 is the first below the root.
        allow_pipes: Run the commands of a Kaldi wav.scp.
    """

    section: ClassVar[str] = "Data"

    data: tuple[Path, ...] = option("--data", "-d")
    split: str | None = None
    corpus: tuple[str, ...] = ()
    speaker_level: int | None = None
    allow_pipes: bool = False

    def recordings(self, report: Report) -> list[Recording]:
        """All recordings of the data."""
        return collect(
            self.data,
            self.split,
            self.corpus,
            report.skipped,
            level=self.speaker_level,
            allow_pipes=self.allow_pipes,
        )

    def data_card(self, recordings: Sequence[Recording | Utterance]) -> dict[str, object]:
        """A card's entries on the training data."""
        from voicenym.training.speech.preparation import data_card

        return data_card(recordings, self.data, self.split, self.corpus)


@dataclass(frozen=True, kw_only=True)
class CacheOptions(Recipe):
    """Option of the folder of prepared speech.

    Args:
        cache: Folder of decoded speech; default: within the output folder.
    """

    section: ClassVar[str] = "Data"

    cache: Path | None = option(default=None, old_flags=("--shelf",))

    @property
    def cache_folder(self) -> Path:
        """The folder that is used."""
        return self.cache or present_or_former(self.output, SPEECH_FOLDER, FORMER_SPEECH_FOLDER)


@dataclass(frozen=True, kw_only=True)
class SystemOptions(Recipe):
    """Options of training on anonymized speech.

    Args:
        system: Anonymize the speech first, as attackers do.
        per: With --system: a voice per speaker or utterance.
    """

    section: ClassVar[str] = "Data"

    system: str | None = option("--system", "-s", default=None)
    per: str = "utterance"

    def rendering(self) -> Rendering:
        """Reads recordings as they are, or anonymizes them with a key of the output folder."""
        from voicenym.training.speech.preparation import rendering

        return rendering(self.system, self.per, self.output)


@dataclass(frozen=True, kw_only=True)
class TestOptions(DataOptions):
    """Options of the recordings to test the result on.

    Args:
        test: Speech of further speakers, to test the result on at the end.
        test_split: Rows of its manifest.
        test_corpus: Corpora of its manifest.
    """

    section: ClassVar[str] = "Test"

    __test__ = False  # is no test class

    test: Path | None = None
    test_split: str | None = None
    test_corpus: tuple[str, ...] = ()

    def test_recordings(self, report: Report) -> list[Recording]:
        """Recordings of the test data."""
        if self.test is None:
            return []
        return collect(
            [self.test],
            self.test_split,
            self.test_corpus,
            report.skipped,
            level=self.speaker_level,
            allow_pipes=self.allow_pipes,
        )


@dataclass(frozen=True, kw_only=True)
class FitOptions(Recipe):
    """Options of a training in steps.

    Args:
        config: A YAML file as ./FILE, or a bundled one.
        budget: Time at most: 25m, 2h. Run again to go on.
        steps: Steps at most.
        accelerator: cpu, gpu, or auto.
        devices: Number of devices that train together.
        precision: 32-true, bf16-mixed, ...; default: bf16 on CUDA, single elsewhere.
        workers: Processes that prepare speech.
    """

    section: ClassVar[str] = "Training"

    config: str = option("--config", "-c")
    budget: str | None = None
    steps: int | None = option(default=None, minimum=1)
    accelerator: str = "auto"
    devices: int = option(default=1, minimum=1)
    precision: str | None = None
    workers: int | None = option("--workers", "-j", default=None, minimum=0)

    def resources(self, report: Report) -> Resources:
        """Time limit, machine and reporting, as the arguments of a ``train`` function."""
        return resources(
            self.budget,
            report.say,
            self.accelerator,
            self.devices,
            self.precision,
            self.workers,
        )


@dataclass(frozen=True, kw_only=True)
class SpeechRecipe(CacheOptions, FitOptions, DataOptions):
    """A recipe that trains on prepared speech, in steps, and watches held-out speakers."""

    def configured(self, kind: type[T], **changes: Any) -> T:
        """The configuration, changed by options that are given."""
        from voicenym.training.run.config import changed, load

        return changed(load(self.config, kind), steps=self.steps, **changes)

    def prepared(
        self,
        train: Sequence[Recording],
        held_out: Sequence[Recording],
        report: Report,
        rendering: Rendering | None = None,
    ) -> tuple[list[Utterance], list[Utterance]]:
        """Prepared speech in the cache folder, see
        :func:`voicenym.training.speech.preparation.prepared`.
        """
        from voicenym.training.speech.preparation import prepared

        return prepared(self.cache_folder, train, held_out, report, rendering)
