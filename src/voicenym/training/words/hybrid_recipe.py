"""Recipe ``hybrid``: a recogniser of phones, frame by frame, from aligned transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import CorpusError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe, SystemOptions
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.words.phone_states.phone_model import PhoneModel
    from voicenym.training.speech.aligned_dataset import Aligned
    from voicenym.training.words.train_hybrid import HybridConfig

WEIGHED = 60
"""Number of held-out utterances for the choice of the searches' settings."""


@dataclass(frozen=True, kw_only=True)
class HybridRecipe(SystemOptions, SpeechRecipe):
    """Train a hybrid recogniser of English, from aligned phones; with --system, on anonymized
    speech.

    Args:
        start: Recogniser to go on from: a folder that this command wrote.
        lexicon: Pronunciations of words that pocketsphinx's dictionary lacks, in CMU's form.
        alignments: File of alignments, made if missing; default: within the output folder.
        order: Words of the n-gram; default: as configured.
        batch: Utterances in a step.
    """

    example: ClassVar[str] = "-d corpus/ -o recogniser/ --system mcadams"
    configuration: ClassVar[str] = "voicenym.training.words.train_hybrid:HybridConfig"

    config: str = option("--config", "-c", default="recogniser-hybrid")
    start: Path | None = option("--from", default=None)
    lexicon: Path | None = None
    alignments: Path | None = None
    order: int | None = option(default=None, minimum=1)
    batch: int | None = option(default=None, minimum=1)

    def run(self, report: Report) -> Trained:
        """Align, train and save the recogniser, and tune its searches."""
        require_training()
        from voicenym.metrics import normalise
        from voicenym.recognition.language_models.closed_vocabulary import lexicon_of
        from voicenym.recognition.sphinx_processes.alignment import Alignments, pronunciations
        from voicenym.training.speech.aligned_dataset import aligned
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.words import train_hybrid as steps

        config = self.configured(steps.HybridConfig, batch=self.batch, order=self.order)
        resources = self.resources(report)
        texts = [r for r in self.recordings(report) if r.text]
        chosen, kept = speaker_split(texts, config.held_out, config.seed, "recordings with text")
        own = None if self.lexicon is None else lexicon_of(self.lexicon)
        known = pronunciations((normalise(r.text) for r in [*chosen, *kept]), own)
        if not known:
            raise CorpusError(
                "no word has a known pronunciation; give --lexicon, or train recogniser"
            )
        file = self.alignments or self.output / "alignments.jsonl"
        utterances, held_out = self.prepared(chosen, kept, report, self.rendering())
        count = len(utterances)
        both = [utterance.recording for utterance in (*utterances, *held_out)]
        phones = Alignments(file, known).of(both, report.say)
        train, left = aligned(utterances, phones[:count], config.longest)
        watched, _ = aligned(held_out, phones[count:], config.longest)
        for reason, number in left.items():
            report.say(f"{number} of {count} utterances left out: {reason}")
        model = self._model(config, known, train)
        outcome = steps.train(model, train, watched, config, self.output, **resources)
        card = {
            **self.data_card(utterances),
            "recordings": len(train),
            "from": self.start.name if self.start else "",
            "anonymized by": self.anonymized_by,
            "voices per": self.per if self.system else "",
            "steps": outcome.steps,
            "cross-entropy on speakers kept out, who chose the checkpoint": outcome.best,
        }
        model.save(self.output, training=card)
        sentences = [recording.text for recording in chosen]
        rate, phone_rate = self._tuned(sentences, known, watched, config.order, report)
        return self.result(
            outcome,
            {
                "cross-entropy on held-out speakers": outcome.best,
                "WER % on held-out speakers": rate,
                "PER % on held-out speakers": phone_rate,
            },
            f"WER {rate:.1f} %, PER {phone_rate:.1f} % on held-out speakers",
        )

    def _model(
        self, config: HybridConfig, known: dict[str, list[str]], train: Sequence[Aligned]
    ) -> PhoneModel:
        """The network to start from: a new one of the lexicon's phones, or an earlier one."""
        from voicenym.nets.words.phone_states.phone_model import PhoneModel
        from voicenym.nets.words.phone_states.phones import States
        from voicenym.training.speech.aligned_dataset import shares

        if self.start is not None:
            return PhoneModel.load(self.start)[0]
        names = {name for ways in known.values() for way in ways for name in way.split()}
        states = States(tuple(sorted(names)))
        return PhoneModel.make(states, config.options, shares(train, states, config.smoothing))

    def _tuned(
        self,
        sentences: Sequence[str],
        known: dict[str, list[str]],
        watched: Sequence[Aligned],
        order: int,
        report: Report,
    ) -> tuple[float, float]:
        """Adds the searches of words and of phones to the saved network, tuned on held-out speech.

        Args:
            sentences: of the n-gram.
            known: pronunciations of words.
            watched: held-out utterances.
            order: words of the n-gram.
            report: of the progress.

        Returns:
            Error rates of words and of phones, in percent.
        """
        from voicenym.metrics import normalise
        from voicenym.recognition.hybrid_recogniser import attach
        from voicenym.recognition.phones.phone_loop import attach_settings

        some = watched[:: max(1, len(watched) // WEIGHED)]  # of all speakers
        weighed = [(one.speech.samples(), one.speech.recording.text) for one in some]
        rate = attach(self.output, sentences, known, weighed, max(1, order), say=report.say)
        # alignments contain only sentences of which every word has a pronunciation
        spoken = [(x, [known[word] for word in normalise(text).split()]) for x, text in weighed]
        return rate, attach_settings(self.output, spoken, say=report.say)
