"""Recipe ``tokenizer``: one codebook over the frames of a network."""

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
class TokenizerRecipe(SpeechRecipe):
    """Train a tokenizer of one codebook: MUSA's teacher over XLS-R.

    Args:
        features: Features to quantise: wav2vec2:PLACE, such as wav2vec2:xls-r-300m; a HuBERT;
            base, the content of the bundled resynthesis; or cepstra.
        layer: Of the network.
        start: Folder of a tokenizer to go on from.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -o tokenizer/ --features wav2vec2:xls-r-300m"
    configuration: ClassVar[str] = "voicenym.training.content.units.train_tokenizer:TokenizerConfig"

    config: str = option("--config", "-c", default="tokenizer")
    features: str = option(teacher=True)
    layer: int = option(default=24, minimum=1)
    start: Path | None = option("--from", default=None)
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Extract frames, train and save the tokenizer."""
        require_training()
        from voicenym.nets.content.tokenizer import Tokenizer
        from voicenym.training.content.units import train_tokenizer as steps
        from voicenym.training.content.units.unit_features import features_of
        from voicenym.training.speech.speaker_split import speaker_split

        config = self.configured(steps.TokenizerConfig, batch=self.batch)
        resources = self.resources(report)
        features, source = features_of(self.features, self.layer, resources["machine"])
        if self.start is None:
            tokenizer = steps.new(config, features.size, source)
        else:
            tokenizer = Tokenizer.load(self.start)
        if tokenizer.source != source:
            raise VoicenymError(
                f"{self.start}: a tokenizer of other features ({tokenizer.source}); give those"
            )
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        utterances, others = self.prepared(chosen, kept, report)
        files = steps.frames(features, source, [*utterances, *others], self.output, report.say)
        train, held_out = files[: len(utterances)], files[len(utterances) :]
        outcome = steps.train(tokenizer, train, held_out, config, self.output, **resources)
        card = {
            **self.data_card(utterances),
            "steps": outcome.steps,
            "share of the variance lost on speakers kept out": round(outcome.best, 4),
        }
        tokenizer.save(self.output, card)
        return self.result(
            outcome, {"share of the variance lost on held-out speakers": outcome.best}
        )
