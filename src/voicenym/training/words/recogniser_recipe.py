"""Recipe ``recogniser``: a CTC recogniser, from transcribed speech, original or anonymized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe, SystemOptions, TestOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.training.speech.speech_cache import Utterance

WEIGHED = 60
"""Number of held-out utterances for the choice of the n-gram's weight."""


@dataclass(frozen=True, kw_only=True)
class RecogniserRecipe(SystemOptions, TestOptions, SpeechRecipe):
    """Train a CTC recogniser of characters; with --system, on anonymized speech.

    Args:
        test: Transcribed speech of further speakers, to test the result on at the end.
        start: Recogniser to go on from: a folder that this command wrote.
        order: Words of the n-gram; 0 for none; default: as configured.
        batch: Utterances in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c recogniser-small -o recogniser/ --budget 2h"
    configuration: ClassVar[str] = "voicenym.training.words.train_recogniser:RecogniserConfig"

    start: Path | None = option("--from", default=None)
    order: int | None = option(default=None, minimum=0)
    batch: int | None = option(default=None, minimum=1)

    def run(self, report: Report) -> Trained:
        """Train and save the recogniser, tune the weight of its n-gram, and test it."""
        require_training()
        from voicenym.metrics import normalise
        from voicenym.nets.words.ctc_networks.character_model import CharacterModel
        from voicenym.nets.words.ctc_networks.ctc import Alphabet
        from voicenym.recognition.ctc_recogniser import note
        from voicenym.recognition.language_model_weight import attach
        from voicenym.training.speech.preparation import cached, check_disjoint
        from voicenym.training.words import train_recogniser as steps

        config = self.configured(steps.RecogniserConfig, batch=self.batch, order=self.order)
        recordings = self.recordings(report)
        test = [recording for recording in self.test_recordings(report) if recording.text]
        chosen, kept = steps.transcribed_split(recordings, config.held_out, config.seed)
        check_disjoint(recordings, test)
        if self.start is None:
            alphabet = Alphabet.of(normalise(recording.text) for recording in chosen)
            model = CharacterModel.make(config.net, alphabet, config.options)
        else:
            model, _ = CharacterModel.load(self.start)
        rendering = self.rendering()
        resources = self.resources(report)
        train, held_out = self.prepared(chosen, kept, report, rendering)
        outcome = steps.train(model, train, held_out, config, self.output, **resources)
        card = {
            **self.data_card(train),
            "anonymized by": self.anonymized_by,
            "voices per": self.per if self.system else "",
            "steps": outcome.steps,
            "CER % on speakers kept out, who decided which checkpoint is the best": outcome.best,
        }
        model.save(self.output, training=card)
        lines: list[str] = []
        if config.order:
            weighed = [(u.samples(), u.recording.text) for u in held_out[:WEIGHED]]
            attach(self.output, [r.text for r in chosen], weighed, config.order, say=report.say)
        if self.test is not None and test:
            speech = cached(self.cache_folder, test, rendering, report)
            device = "cuda" if resources["machine"].cuda else "cpu"
            rates = error_rates(self.output, speech, device)
            name = f"{self.test.name} {self.test_split or ''}".strip()
            note(self.output, measured={name: rates})
            lines += [f"{rate}: {value}" for rate, value in rates.items()]
        return self.result(outcome, {"CER % on held-out speakers": outcome.best}, *lines)


def error_rates(folder: Path, speech: Sequence[Utterance], device: str) -> dict[str, str]:
    """Error rates with 95 % intervals over speakers, as decoded by default and greedily."""
    from voicenym.metrics import word_errors
    from voicenym.recognition.ctc_recogniser import Trained as TrainedRecogniser

    figures: dict[str, str] = {}
    name = ""
    for beam in (0, None):
        with TrainedRecogniser(folder, device=device, beam=beam) as recogniser:
            if beam is None and recogniser.name == name:
                break
            name = recogniser.name
            found = recogniser.transcribe([utterance.samples() for utterance in speech])
        texts = [utterance.recording.text for utterance in speech]
        speakers = [utterance.speaker for utterance in speech]
        for rate, characters in (("WER", False), ("CER", True)):
            errors = word_errors(texts, found, speakers, characters=characters)
            text = f"{100 * errors.value:.1f}"
            if errors.interval is not None:
                low, high = errors.interval
                text += f" ({100 * low:.1f} to {100 * high:.1f})"
            figures[f"{rate} %, {name}"] = text
    return figures
