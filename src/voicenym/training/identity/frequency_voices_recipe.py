"""Recipe ``frequency-voices``: regression of speaker vectors on formants and F0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import DataOptions
from voicenym.training.run.progress_report import Report


@dataclass(frozen=True, kw_only=True)
class FrequencyVoicesRecipe(DataOptions):
    """Fit speaker vectors to formants and F0 by linear regression, for identity=formant-pitch.

    Args:
        speaker: As --speaker of voicenym models assemble; or ecapa:PLACE, xvector:PLACE.
        formants: That go with F0.
    """

    example: ClassVar[str] = "-d corpus/ --speaker ecapa-small -o frequency-voices/"

    speaker: str
    formants: int = option(default=4, minimum=1)

    def run(self, report: Report) -> Trained:
        """Measure the recordings, fit and save the map."""
        import torch

        from voicenym.nets.encoder_folders import folder_of
        from voicenym.training.identity import train_frequency_voices as steps

        torch.set_num_threads(1)  # the same vectors on any machine
        encoder = folder_of("speaker", self.speaker)
        recordings = self.recordings(report)
        before = len(report.skipped)
        found, near = steps.train(recordings, encoder, self.formants, report.say, report.skipped)
        gone = {omission.name for omission in list(report.skipped)[before:]}
        used = [recording for recording in recordings if recording.name not in gone]
        speakers = len({recording.speaker for recording in used})
        what = "mean cosine to the vectors of speakers left out, less the mean vector"
        card = {"speakers": speakers, "recordings": len(used), what: round(near, 4)}
        found.save(self.output, card)
        return Trained(self.output, 0, {what: near}, (f"fitted to: {speakers} speakers",))
