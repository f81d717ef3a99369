"""Recipe ``f0-predictor``: F0 of a pipeline's content, instead of a copied contour."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from voicenym.training.recipe import Trained, assembling, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.former_run_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training


@dataclass(frozen=True, kw_only=True)
class F0PredictorRecipe(SpeechRecipe):
    """Train a predictor of F0 and voicing from the content of a pipeline.

    Args:
        pipeline: Folder of voicenym models assemble: whose content, and F0 frames.
    """

    example: ClassVar[str] = "-d corpus/ --pipeline pipeline/ -o f0/"
    configuration: ClassVar[str] = (
        "voicenym.training.synthesis.train_f0_predictor:F0PredictorConfig"
    )

    config: str = option("--config", "-c", default="f0-predictor")
    pipeline: Path = option("--pipeline", teacher=("content",))

    def run(self, report: Report) -> Trained:
        """Extract content and F0, train and save the predictor."""
        require_training()
        import torch

        from voicenym.nets.synthesis import f0_predictor
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.speech.preparation import hours
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.synthesis import train_f0_predictor as steps
        from voicenym.training.synthesis.synthesis_dataset import conditioned

        config = self.configured(steps.F0PredictorConfig)
        resources = self.resources(report)
        parts = assembly.opened(self.pipeline)
        hop = parts.synthesizer.hop
        fixed = {
            "content": parts.content.size,
            "every": parts.content.hop // hop,
            "hop": hop,
        }
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            network = f0_predictor.make("f0-predictor", {**config.options, **fixed})
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        place = present_or_former(self.cache_folder, "conditioning", "heard")
        device = "cuda" if resources["machine"].cuda else "cpu"
        train, held_out = (
            conditioned(some, parts, place, device, report.say)
            for some in self.prepared(chosen, kept, report)
        )
        outcome = steps.train(network, train, held_out, config, self.output, **resources)
        utterances = [item.utterance for item in train]
        card = {
            **self.data_card(utterances),
            "hours": hours(utterances),
            "content": parts.content.kind,
            "steps": outcome.steps,
            "nats on held-out speakers": round(outcome.best, 4),
        }
        f0_predictor.save(network, self.output, card, half=True)
        return self.result(
            outcome,
            {"nats on held-out speakers": outcome.best},
            *self._usage(assembly.there_are(self.pipeline)),
        )

    def _usage(self, parts: list[str]) -> list[str]:
        """Lines on how to use the result in a pipeline of these parts."""
        lines = [assembling("f0", self.output, self.pipeline)]
        if "register" not in parts:
            lines.append(
                "f0=predicted also needs a register: voicenym train register --data DATA --speaker "
                "SPEAKER -o REGISTER, and then --register REGISTER in the same command"
            )
        return lines
