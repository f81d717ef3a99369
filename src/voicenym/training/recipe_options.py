"""Options that recipes share: data, prepared speech, a system before the training, and steps.

Each group is a recipe without a training; a recipe derives from those that it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from voicenym.corpus.recordings import collect
from voicenym.training.recipe import Recipe, option
from voicenym.training.run.former_run_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import Resources, resources

if TYPE_CHECKING:
    from voicenym.corpus.recording import Recording
    from voicenym.training.speech.speech_cache import Rendering, Utterance

T = TypeVar("T")
INITIAL = 1_000_003
"""Added to a configuration's seed for parts that are made without one of their own."""
SPEECH_FOLDER, FORMER_SPEECH_FOLDER = "speech", "shelf"
"""Folder of prepared speech within an output folder; and its name in runs of earlier releases."""


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
        system: Anonymize the speech first, as attackers do; settings as NAME:FIELD=VALUE,...
        per: With --system: a voice per speaker or utterance.
    """

    section: ClassVar[str] = "Data"

    system: str | None = option("--system", "-s", default=None)
    per: str = "utterance"

    def rendering(self) -> Rendering:
        """Reads recordings as they are, or anonymizes them with a key of the output folder."""
        from voicenym.training.speech.preparation import rendering

        return rendering(self.system, self.per, self.output)

    @property
    def anonymized_by(self) -> str:
        """Name of the system with its settings, as in reports; empty for original speech."""
        from voicenym.anonymizer.system_settings import labelled

        return "" if self.system is None else labelled(self.system)


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
        """The configuration, changed by options that are given.

        Its seed becomes that of torch's global random numbers, from which parts without a seed of
        their own are made, such as discriminators and classifiers.
        """
        import torch

        from voicenym.training.run.config import changed, load

        config: Any = changed(load(self.config, kind), steps=self.steps, **changes)
        # not the seed itself, with which networks begin, so that parts differ from these
        torch.manual_seed(INITIAL + config.seed)
        return config

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

        if held_out and len({one.speaker for one in (*train, *held_out)}) == 1:
            report.say(
                "all recordings are of one speaker: those held out are of that speaker too, so "
                "that figures on held-out speakers are too good"
            )
        return prepared(self.cache_folder, train, held_out, report, rendering)
