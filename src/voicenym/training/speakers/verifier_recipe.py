"""Recipe ``verifier``: a speaker encoder, from original or anonymized speech."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe, SystemOptions, TestOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training


@dataclass(frozen=True, kw_only=True)
class VerifierRecipe(SystemOptions, TestOptions, SpeechRecipe):
    """Train a speaker encoder on the speakers of a corpus (AAM-softmax).

    Args:
        batch: Crops in a step.
        start: Verifier to go on from: a folder, or a name as in evaluate.
    """

    example: ClassVar[str] = "-d corpus/ -c attacker -o verifier/ --budget 25m"
    configuration: ClassVar[str] = "voicenym.training.speakers.train_verifier:VerifierConfig"

    batch: int | None = option(default=None, minimum=2)
    start: str | None = option("--from", default=None)

    def run(self, report: Report) -> Trained:
        """Train, calibrate, test and save the encoder."""
        require_training()
        from voicenym.nets.speakers.speaker_encoders import save
        from voicenym.training.speakers import pair_verification
        from voicenym.training.speakers import train_verifier as steps
        from voicenym.training.speech.preparation import cached, check_disjoint
        from voicenym.training.speech.speaker_split import verification_split
        from voicenym.verification.verifiers import encoder_of

        config = self.configured(steps.VerifierConfig, batch=self.batch)
        recordings, test = self.recordings(report), self.test_recordings(report)
        chosen, kept = verification_split(recordings, config.held_out, config.seed)
        check_disjoint(recordings, test)
        encoder = steps.encoder(config) if self.start is None else encoder_of(self.start)
        rendering = self.rendering()
        resources = self.resources(report)
        train, held_out = self.prepared(chosen, kept, report, rendering)
        outcome = steps.train(encoder, train, held_out, config, self.output, **resources)
        tested = {}
        if test:
            tested = pair_verification.error_rates(
                encoder, cached(self.cache_folder, test, rendering, report)
            )
        calibration = pair_verification.calibrated(encoder, held_out)
        name = self.test.name if self.test else ""
        save(
            encoder,
            self.output,
            card={
                **self.data_card(train),
                "anonymized by": self.anonymized_by,
                "steps": outcome.steps,
                "EER % on speakers kept out, who decided which checkpoint is the best": (
                    outcome.best
                ),
                **{f"EER % on {name}, {group}": value for group, value in tested.items()},
            },
            calibration=(calibration.slope, calibration.offset),
        )
        lines = [
            f"EER {group}: {value:.2f} % ({low:.2f} to {high:.2f})"
            for group, (value, low, high) in tested.items()
        ]
        return self.result(
            outcome,
            {"EER % on held-out speakers": outcome.best}
            | {f"EER %, {group}": value for group, (value, _, _) in tested.items()},
            *lines,
        )
