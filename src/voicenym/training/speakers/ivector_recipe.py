"""Recipe ``ivector``: i-vectors, LDA and PLDA."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.recipe import Trained
from voicenym.training.run.progress_report import Report
from voicenym.training.speakers.ubm_recipe import StatisticalOptions


@dataclass(frozen=True, kw_only=True)
class IvectorRecipe(StatisticalOptions):
    """Train i-vectors, LDA and PLDA on a corpus of speakers (ivector:FOLDER)."""

    example: ClassVar[str] = "-d corpus/ -o ivector/"
    configuration: ClassVar[str] = "voicenym.training.speakers.train_ivector:IVectorConfig"

    def run(self, report: Report) -> Trained:
        """Estimate and save the extractor, LDA and PLDA."""
        from voicenym.training.speakers.train_ivector import IVectorConfig
        from voicenym.training.speakers.verifier_training import train_verifier
        from voicenym.training.speakers.verifier_training_options import TrainingOptions
        from voicenym.verification.ivector import IVector

        config = self.configured(IVectorConfig)
        speech = self.speech(report)
        options = TrainingOptions(
            config, workers=self.processes, say=report.say, left_out=report.skipped
        )
        found = train_verifier(IVector, speech, self.output, options=options).verifier
        return Trained(self.output, 0, {}, (f"{found.name}, version {found.version}",))
