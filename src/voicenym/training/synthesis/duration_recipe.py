"""Recipe ``durations``: typical durations of a pipeline's content, instead of the speaker's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.training.recipe import Trained, assembling, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.former_run_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
    from voicenym.training.speech.speech_cache import Utterance
    from voicenym.training.synthesis.train_durations import TimedUtterance


@dataclass(frozen=True, kw_only=True)
class DurationRecipe(SpeechRecipe):
    """Train a predictor of durations from the content of a pipeline.

    A phone loop of pocketsphinx finds the phones, at about 0.05 of real time.

    Args:
        pipeline: Folder of voicenym models assemble: whose content.
    """

    example: ClassVar[str] = "-d corpus/ --pipeline pipeline/ -o durations/"
    configuration: ClassVar[str] = "voicenym.training.synthesis.train_durations:DurationConfig"

    config: str = option("--config", "-c", default="durations")
    pipeline: Path = option("--pipeline", teacher=("content",))

    def run(self, report: Report) -> Trained:
        """Extract content and phones, train and save the predictor."""
        require_training()
        import torch

        from voicenym.nets.synthesis import duration_predictor
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.speech.preparation import hours
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.synthesis import train_durations as steps

        config = self.configured(steps.DurationConfig)
        resources = self.resources(report)
        parts = assembly.opened(self.pipeline)
        fixed = {"content": parts.content.size, "hop": parts.content.hop}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            network = duration_predictor.make("duration-predictor", {**config.options, **fixed})
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        place = present_or_former(self.cache_folder, "conditioning", "heard")
        device = "cuda" if resources["machine"].cuda else "cpu"
        prepared = list(self.prepared(chosen, kept, report))
        parts.content.to(device).eval().requires_grad_(False)
        train, held_out = (list(_timed(some, parts, place, device, report)) for some in prepared)
        parts.content.to("cpu")
        outcome = steps.train(network, train, held_out, config, self.output, **resources)
        utterances = prepared[0]
        card = {
            **self.data_card(utterances),
            "hours": hours(utterances),
            "content": parts.content.kind,
            "steps": outcome.steps,
            "deviance on held-out speakers": round(outcome.best, 4),
        }
        duration_predictor.save(network, self.output, card, half=True)
        return self.result(
            outcome,
            {"deviance on held-out speakers": outcome.best},
            assembling("durations", self.output, self.pipeline),
        )


def _timed(
    utterances: Sequence[Utterance], parts: Assembly, folder: Path, device: str, report: Report
) -> Iterator[TimedUtterance]:
    """Content of utterances, and the phones that a phone loop finds in them; both are stored.

    Args:
        utterances: those of silence are left out.
        parts: with the content encoder, on the device.
        folder: of stored results.
        device: where to compute.
        report: receives lines of progress.

    Raises:
        DependencyError: pocketsphinx is not installed.
    """
    import numpy as np
    import torch

    from voicenym.recognition.sphinx_processes.segment_decoding import SegmentDecoder
    from voicenym.resynthesis.pipeline.conditioning import whole_content
    from voicenym.training.content.units.train_units import keep
    from voicenym.training.synthesis.synthesis_dataset import content_place
    from voicenym.training.synthesis.train_durations import TimedUtterance

    contents = content_place(parts, folder)
    with SegmentDecoder("phones") as decoder:
        for done, utterance in enumerate(utterances, 1):
            name = f"{utterance.path.stem}.npy"
            content, phones = contents / name, folder / "phones" / name
            samples = utterance.samples()
            if not samples.any():
                continue
            if not content.is_file():
                found = whole_content(parts, torch.from_numpy(samples).to(device))
                keep(content, found.float().cpu().numpy())
            if not phones.is_file():
                rows = [(one.name, str(one.frames)) for one in decoder.decode(samples)]
                keep(phones, np.array(rows, dtype="<U8").reshape(-1, 2))
            pairs = np.load(phones, allow_pickle=False).tolist()
            yield TimedUtterance(content, tuple((one, int(frames)) for one, frames in pairs))
            if done % 500 == 0:
                report.say(f"phones of {done} of {len(utterances)} recordings found")
