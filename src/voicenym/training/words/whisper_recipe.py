"""Recipe ``whisper``: a published Whisper, fine-tuned on original or anonymized speech."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe, SystemOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training


@dataclass(frozen=True, kw_only=True)
class WhisperRecipe(SystemOptions, SpeechRecipe):
    """Fine-tune a published Whisper; with --system, on a system's output.

    Args:
        start: A Whisper: a name of models list, a name on the hub, or a folder as ./FOLDER.
        batch: Windows of up to 30 s in a step.
    """

    example: ClassVar[str] = "-d corpus/ -s mcadams -o whisper-mcadams/ --budget 1h"
    configuration: ClassVar[str] = "voicenym.training.words.train_whisper:WhisperConfig"

    config: str = option("--config", "-c", default="whisper")
    start: str = option("--from", default="whisper-tiny.en")
    batch: int | None = option(default=None, minimum=1)

    def run(self, report: Report) -> Trained:
        """Prepare the speech, fine-tune and save the network with its vocabulary."""
        require_training()
        from voicenym.nets.hub import place_of, snapshot
        from voicenym.nets.names_and_paths import is_hub_name
        from voicenym.nets.words.whisper.whisper import STATE
        from voicenym.nets.words.whisper.whisper_published import published, save_published
        from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.words import train_whisper as steps
        from voicenym.training.words.whisper_dataset import spoken

        config = self.configured(steps.WhisperConfig, batch=self.batch)
        resources = self.resources(report)
        place = snapshot(self.start) if is_hub_name(self.start) else Path(place_of(self.start))
        model = published(place, languages=True)
        known = Vocabulary(model.tokenizer)
        texts = [r for r in self.recordings(report) if r.text]
        chosen, kept = speaker_split(texts, config.held_out, config.seed, "recordings with text")
        utterances, others = self.prepared(chosen, kept, report, self.rendering())
        window = model.network.sizes.states * STATE
        most = steps.most_tokens(model.network, model.writing)
        train, left = spoken(utterances, known, window, most)
        held_out, _ = spoken(others, known, window, most)
        for reason, count in left.items():
            report.say(f"{count} of {len(utterances)} utterances left out: {reason}")
        outcome = steps.train(
            model.network, model.writing, train, held_out, config, self.output, **resources
        )
        card = {
            **self.data_card(utterances),
            "from": Path(self.start).name,
            "anonymized by": self.anonymized_by,
            "voices per": self.per if self.system else "",
            "parts": config.parts,
            "steps": outcome.steps,
            "nats a token on speakers kept out, who chose the checkpoint": outcome.best,
        }
        save_published(model, self.output, card)
        return self.result(outcome, {"nats a token on held-out speakers": outcome.best})
