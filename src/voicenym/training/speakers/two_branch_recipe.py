"""Recipe ``two-branch``: the verifier of the strongest attackers, from speech of many systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training


@dataclass(frozen=True, kw_only=True)
class TwoBranchRecipe(SpeechRecipe):
    """Pre-train an attacker's two-branch verifier on speech that many systems anonymized.

    Args:
        systems: Systems that anonymize the speech, one for each recording; may be repeated.
            Default: original speech and all systems whose weights are bundled.
        renderings: Times that each recording is anonymized, by other systems under other keys.
        frozen: Weights of the frozen network: a name of models list, or a folder as ./FOLDER.
        batch: Crops in a step.
        start: Two-branch verifier to go on from, or an ECAPA-TDNN that the filterbank branch
            starts from; nothing for random weights.
    """

    example: ClassVar[str] = "-d corpus/ -o two-branch/ --frozen whisper-tiny.en --budget 25m"
    configuration: ClassVar[str] = "voicenym.training.speakers.train_two_branch:TwoBranchConfig"

    config: str = option("--config", "-c", default="two-branch-small")
    systems: tuple[str, ...] = option("--system", "-s", default=())
    renderings: int = option(default=2, minimum=1)
    frozen: str | None = option(default=None, teacher=True)
    batch: int | None = option(default=None, minimum=2)
    start: str = option("--from", default="ecapa-small")

    def run(self, report: Report) -> Trained:
        """Anonymize, compute features, train, calibrate and save the encoder."""
        require_training()
        from voicenym.nets.speakers.speaker_encoders import save
        from voicenym.training.speakers import train_two_branch as steps
        from voicenym.training.speakers.many_systems import ManySystems, bundled_systems
        from voicenym.training.speakers.stream_files import StreamFiles
        from voicenym.training.speech.preparation import progress
        from voicenym.training.speech.speaker_split import verification_split
        from voicenym.verification.verifiers import encoder_of

        config = self.configured(steps.TwoBranchConfig, batch=self.batch)
        recordings = self.recordings(report)
        chosen, kept = verification_split(recordings, config.held_out, config.seed)
        start = None if self.start == "nothing" else encoder_of(self.start)
        encoder = steps.new(config, start, self.frozen or "")
        resources = self.resources(report)
        if resources["machine"].cuda:
            encoder.cuda()
        files = StreamFiles(self.cache_folder / "features", encoder)
        systems = self.systems or bundled_systems()
        train, held_out = [], []
        for number in range(self.renderings):
            many = ManySystems(systems, config.seed, number)
            speech, watched = self.prepared(chosen, kept if number == 0 else [], report, many)
            count = progress(len(speech) + len(watched), "through the frozen network", report.say)
            train += files.fill(speech, count)
            held_out += files.fill(watched, count)
        outcome = steps.train(encoder, train, held_out, config, self.output, **resources)
        calibration = steps.calibrated(encoder, held_out)
        save(
            encoder,
            self.output,
            card={
                **self.data_card([file.recording for file in train]),
                "anonymized by": ", ".join(systems),
                "renderings": self.renderings,
                "begins from": self.start,
                "steps": outcome.steps,
                "EER % on speakers kept out, who decided which checkpoint is the best": (
                    outcome.best
                ),
            },
            calibration=(calibration.slope, calibration.offset),
            half=True,
        )
        weights = ", ".join(
            f"{layer}: {weight:.2f}"
            for layer, weight in zip(encoder.layers, encoder.weighted.weights.tolist(), strict=True)
        )
        return self.result(
            outcome,
            {"EER % on held-out speakers": outcome.best},
            f"weights of the frozen layers: {weights}",
            f"{self.output}: {outcome.steps} steps, EER {outcome.best:.2f} % on speakers kept out",
        )
