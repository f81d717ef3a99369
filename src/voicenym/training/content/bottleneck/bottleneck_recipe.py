"""Recipe ``bottleneck``: a TDNN-F recogniser whose bottleneck is a content encoder."""

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
class BottleneckRecipe(SpeechRecipe):
    """Train a TDNN-F recogniser; its bottleneck is content, as in B1.

    Args:
        start: Folder to go on from: recogniser/ in an output of this command.
        adversary: Weight of the branch that hides the speaker; 0: none.
        batch: Utterances in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c bottleneck-small -o content/ --budget 2h"
    configuration: ClassVar[str] = (
        "voicenym.training.content.bottleneck.train_bottleneck:BottleneckConfig"
    )

    start: Path | None = option("--from", default=None)
    adversary: float | None = option(default=None, minimum=0.0)
    batch: int | None = option(default=None, minimum=1)

    def run(self, report: Report) -> Trained:
        """Train and save the recogniser and its bottleneck."""
        require_training()
        from voicenym.metrics import normalise
        from voicenym.nets.content.content_encoders import save
        from voicenym.nets.words.ctc_networks.character_model import CharacterModel
        from voicenym.nets.words.ctc_networks.ctc import Alphabet
        from voicenym.training.content.bottleneck import train_bottleneck as steps
        from voicenym.training.words.train_recogniser import transcribed_split

        config = self.configured(steps.BottleneckConfig, batch=self.batch, adversary=self.adversary)
        resources = self.resources(report)
        chosen, kept = transcribed_split(self.recordings(report), config.held_out, config.seed)
        if self.start is None:
            alphabet = Alphabet.of(normalise(recording.text) for recording in chosen)
            model = CharacterModel.make("tdnnf", alphabet, config.options)
        else:
            model, _ = CharacterModel.load(self.start)
            if model.kind != "tdnnf":
                raise VoicenymError(f"{self.start}: a {model.kind} has no bottleneck; give a tdnnf")
        train, held_out = self.prepared(chosen, kept, report)
        outcome = steps.train(model, train, held_out, config, self.output, **resources)
        chose = "" if config.adversary else ", who decided which checkpoint is the best"
        card = {
            **self.data_card(train),
            "weight of the branch that hides the speaker": config.adversary,
            "steps": outcome.steps,
            f"CER % on speakers kept out{chose}": outcome.best,
        }
        save(model.net.content, self.output, card)
        model.save(self.output / "recogniser", training=card)
        return self.result(outcome, {"CER % on held-out speakers": outcome.best})
