"""Recipe ``register``: regression of F0 statistics on speaker vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.recipe import Trained
from voicenym.training.recipe_options import DataOptions
from voicenym.training.run.progress_report import Report


@dataclass(frozen=True, kw_only=True)
class F0RegressionRecipe(DataOptions):
    """Fit mean and deviation of ln F0 to speaker vectors by linear regression, for f0=moved.

    Args:
        speaker: As --speaker of voicenym models assemble; or ecapa:PLACE, xvector:PLACE.
        tracker: Pitch tracker.
    """

    example: ClassVar[str] = "-d corpus/ --speaker encoder/ -o register/"

    speaker: str
    tracker: str = "yaapt"

    def run(self, report: Report) -> Trained:
        """Analyse the recordings, fit and save the regression."""
        import torch

        from voicenym.dsp.pitch.trackers import tracker
        from voicenym.nets.encoder_folders import folder_of
        from voicenym.training.identity import train_f0_regression as steps

        torch.set_num_threads(1)  # the same vectors on any machine
        encoder = folder_of("speaker", self.speaker)
        recordings = self.recordings(report)
        before = len(report.skipped)
        found, left = steps.train(
            recordings, encoder, tracker(self.tracker), report.say, report.skipped
        )
        gone = {omission.name for omission in list(report.skipped)[before:]}
        used = [recording for recording in recordings if recording.name not in gone]
        speakers = len({recording.speaker for recording in used})
        rest = "what is left of mean ln F0, on speakers left out (standard deviation)"
        card = {"speakers": speakers, "recordings": len(used), rest: round(left, 4)}
        found.save(self.output, card)
        figures = {"standard deviation of ln F0's error on held-out speakers": left}
        return Trained(self.output, 0, figures, (f"fitted to: {speakers} speakers",))
