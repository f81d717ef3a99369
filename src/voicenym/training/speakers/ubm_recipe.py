"""Recipe ``ubm``: a background model of speech, for GMM-UBM verification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from voicenym.corpus.workers.cpu_count import cores
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import CacheOptions, DataOptions, SystemOptions
from voicenym.training.run.progress_report import Report

if TYPE_CHECKING:
    from voicenym.training.speakers.train_ubm import Spoken

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class StatisticalOptions(SystemOptions, CacheOptions, DataOptions):
    """Options of statistical verifiers.

    Args:
        config: ./FILE of YAML; sizes follow the data without.
        workers: Processes that read recordings.
    """

    config: str | None = option("--config", "-c", default=None)
    workers: int | None = option("--workers", "-j", default=None, minimum=1)

    @property
    def processes(self) -> int:
        """Number of processes: those asked for, or one a processor."""
        return self.workers or cores()

    def configured(self, kind: type[T]) -> T:
        """The configuration; the kind's defaults without a file."""
        from voicenym.training.run.config import load

        return kind() if self.config is None else load(self.config, kind)

    def speech(self, report: Report) -> Sequence[Spoken]:
        """Recordings as they are, or anonymized ones from the cache."""
        from voicenym.training.speech.preparation import cached

        found = self.recordings(report)
        rendering = self.rendering()
        if self.system is None:
            return found
        return cached(Path(self.cache_folder), found, rendering, report)


@dataclass(frozen=True, kw_only=True)
class UbmRecipe(StatisticalOptions):
    """Train a background model of speech, for GMM-UBM verification (gmm-ubm:FOLDER)."""

    example: ClassVar[str] = "-d corpus/ -o ubm/"
    configuration: ClassVar[str] = "voicenym.training.speakers.train_ubm:BackgroundConfig"

    def run(self, report: Report) -> Trained:
        """Estimate and save the model."""
        from voicenym.training.speakers.train_ubm import BackgroundConfig, train

        config = self.configured(BackgroundConfig)
        speech = self.speech(report)
        found = train(speech, self.output, config, report.say, self.processes, report.skipped)
        count = found.mixture.components
        return Trained(self.output, 0, {"components": count})
