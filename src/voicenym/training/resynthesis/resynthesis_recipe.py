"""Recipe ``resynthesis``: the content encoder and the synthesizer of a resynthesis system."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training


@dataclass(frozen=True, kw_only=True)
class ResynthesisRecipe(SpeechRecipe):
    """Train the content encoder and the synthesizer of a resynthesis system.

    Args:
        start: Folder of parts to go on from.
        share: With --from: share of the result in the final weights; the rest is the weights that
            it began with.
        phones: Recogniser whose phone loss is added: a folder of voicenym train hybrid.
        half: Keep the result in half precision.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c base -o parts/ --budget 12h"
    configuration: ClassVar[str] = (
        "voicenym.training.resynthesis.resynthesis_config:ResynthesisConfig"
    )

    start: Path | None = option("--from", default=None)
    share: float = option(default=1.0, minimum=0.0, maximum=1.0)
    phones: Path | None = option(default=None, teacher=True)
    half: bool = False
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Train and save the parts."""
        require_training()
        from voicenym.nets.checkpoint import version
        from voicenym.nets.words.phone_states.phone_model import PhoneModel
        from voicenym.resynthesis.bundled.model_parts import Parts
        from voicenym.training.resynthesis import train_resynthesis as steps
        from voicenym.training.resynthesis.resynthesis_config import ResynthesisConfig
        from voicenym.training.resynthesis.resynthesis_dataset import analysed
        from voicenym.training.speech.speaker_split import verification_split
        from voicenym.verification.verifiers import encoder_of

        config = self.configured(ResynthesisConfig, batch=self.batch)
        if config.normalised and self.start is None:
            raise VoicenymError(
                f"{self.config}: continues from trained parts; give their folder with --from"
            )
        phones = None if self.phones is None else PhoneModel.load(self.phones)[0].net
        recordings = self.recordings(report)
        chosen, kept = verification_split(recordings, config.held_out, config.seed)
        encoder = encoder_of(config.encoder)
        start = self.start
        parts = steps.parts(config, encoder.size) if start is None else Parts.load(start)
        if config.normalised and parts.everybody is None:
            parts = parts.with_normalisation()
        resources = self.resources(report)
        utterances, others = self.prepared(chosen, kept, report)
        bands = parts.content.config()["bands"]
        train = analysed(utterances, encoder, bands, report.say)
        held_out = analysed(others, encoder, bands)
        outcome = steps.train(
            parts,
            train,
            held_out,
            config,
            self.output,
            encoder=encoder,
            phones=phones,
            **resources,
        )
        if self.start is not None and self.share < 1.0:
            parts.blend(Parts.load(self.start), 1.0 - self.share)
        best = min(outcome.curve, key=lambda row: row["loss kept out"])
        card = {
            **self.data_card([item.utterance for item in train]),
            "hours": round(sum(item.frames for item in train) / 360_000, 2),
            "encoder": config.encoder,
            **({} if self.phones is None else {"phones judged by": version(self.phones)}),
            "share of the weights that is the result's": self.share,
            "steps": outcome.steps,
            "on speakers kept out": {
                name: round(value, 4)
                for name, value in best.items()
                if name == "mel distance" or name.startswith("kept out: ")
            },
        }
        parts.save(self.output, card, half=self.half)
        return self.result(outcome, {"mel distance on held-out speakers": best["mel distance"]})
