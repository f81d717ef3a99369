"""Recipe ``synthesizer``: the synthesizer of a pipeline, under frozen encoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.former_run_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.words.whisper.whisper_published import Published
    from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
    from voicenym.training.run.fit import Outcome
    from voicenym.training.speech.speech_cache import Utterance
    from voicenym.training.synthesis.decoder_loss import DecoderLoss
    from voicenym.training.synthesis.spoken_texts import SpokenTexts
    from voicenym.training.synthesis.synthesis_dataset import ConditionedUtterance
    from voicenym.training.synthesis.synthesizer_step import SynthesizerConfig


@dataclass(frozen=True, kw_only=True)
class SynthesizerRecipe(SpeechRecipe):
    """Train a synthesizer on the features of frozen encoders, for voicenym models assemble.

    Args:
        content: As --content of voicenym models assemble: it will be the pipeline's.
        speaker: As --speaker of voicenym models assemble; or ecapa:PLACE, xvector:PLACE.
        start: Folder of a synthesizer to go on from; under content of another size, only the
            weights that read content are new; with another vocoder, its acoustic model is kept.
        former_content: Content encoder that --from was trained with; the new weights then start
            from what it gave (least squares).
        whisper: A Whisper whose states of original and synthesized speech are to agree, where the
            configuration weighs words, and which reads texts, where it weighs these; as of voicenym
            train word-codes.
        voices: Pipeline whose mixture, register and f0 draw voices and F0, and whose drawn accents
            are spoken, where the configuration asks for them (drawn, texts): a folder of voicenym
            models assemble, or ssl, the bundled one.
        half: Keep the result in half precision.
        bits: Keep matrices as integers of so many bits, up to 8, and the rest in half precision.
        batch: Crops in a step.
    """

    example: ClassVar[str] = (
        "-d corpus/ -c synthesizer-small -o synthesizer/ --content content/ --speaker ecapa-small"
    )
    configuration: ClassVar[str] = "voicenym.training.synthesis.synthesizer_step:SynthesizerConfig"

    content: str
    speaker: str
    start: Path | None = option("--from", default=None)
    former_content: str | None = None
    whisper: str | None = option(default=None, teacher=True)
    voices: str | None = option(
        default=None, teacher=("content", "mixture", "register", "f0", "drawn")
    )
    half: bool = False
    bits: int = option(default=0, minimum=0)
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Train and save the synthesizer."""
        require_training()
        from voicenym.nets.encoder_folders import folder_of
        from voicenym.nets.hub import place_of
        from voicenym.nets.synthesis.synthesizers import save
        from voicenym.nets.words.whisper.whisper_published import published
        from voicenym.resynthesis.pipeline.assembly import folder_of as pipeline_folder
        from voicenym.training.synthesis import train_synthesizer as steps
        from voicenym.training.synthesis.drawn_voices import DrawnVoices
        from voicenym.training.synthesis.synthesizer_step import SynthesizerConfig

        if not (self.bits == 0 or 2 <= self.bits <= 8):
            raise VoicenymError(f"--bits is 2 to 8, not {self.bits}")
        config = self.configured(SynthesizerConfig, batch=self.batch)
        resources = self.resources(report)
        reader = None if self.whisper is None else published(Path(place_of(self.whisper)))
        voices = None if self.voices is None else DrawnVoices(pipeline_folder(self.voices))
        folders = folder_of("content", self.content), folder_of("speaker", self.speaker)
        parts, record = steps.parts(config, *folders, self.start)
        steps.check_resumable(self.output, parts, record, config)
        device = "cuda" if resources["machine"].cuda else "cpu"
        train, held_out = self._conditioned(parts, config, device, report)
        if self.former_content is not None:
            self._fit(parts, config, train, device, report)
        texts = None
        if config.texts and reader is not None and self.voices is not None:
            texts = self._texts(reader, [item.utterance for item in train], device, report)
        outcome = steps.train(
            parts.synthesizer, train, held_out, config, self.output,
            recogniser=None if reader is None else reader.network.encoder,
            voices=voices, texts=texts, encoder=parts.speaker, **resources,
        )  # fmt: skip
        card = self._card(parts, [item.utterance for item in train], outcome)
        save(
            parts.synthesizer, self.output, half=self.half, bits=self.bits, card=card,
            **record.config(),
        )  # fmt: skip
        return self.result(outcome, {"mel distance on held-out speakers": outcome.best})

    @property
    def _features(self) -> Path:
        """Folder of the conditioning of the recordings."""
        return present_or_former(self.cache_folder, "conditioning", "heard")

    def _conditioned(
        self, parts: Assembly, config: SynthesizerConfig, device: str, report: Report
    ) -> Iterator[list[ConditionedUtterance]]:
        """Conditioning of the recordings to learn from, then of those held out."""
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.synthesis.synthesis_dataset import conditioned

        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        for some in self.prepared(chosen, kept, report):
            yield conditioned(some, parts, self._features, device, report.say)

    def _card(
        self, parts: Assembly, utterances: list[Utterance], outcome: Outcome
    ) -> dict[str, Any]:
        """What the synthesizer learned from, and what it reaches."""
        from voicenym.training.speech.preparation import hours

        return {
            **self.data_card(utterances),
            "from": self.start.name if self.start else "",
            "hours": hours(utterances),
            "content": f"{parts.content.kind}, {Path(self.content).name}",
            "speaker": f"{parts.speaker.kind}, {Path(self.speaker).name}",
            "steps": outcome.steps,
            "mel distance on speakers kept out": round(outcome.best, 4),
        }

    def _texts(
        self, reader: Published, utterances: list[Utterance], device: str, report: Report
    ) -> tuple[SpokenTexts, DecoderLoss]:
        """Recordings with texts as the pipeline of the voices speaks them, and their loss."""
        from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.synthesis.decoder_loss import DecoderLoss
        from voicenym.training.synthesis.spoken_texts import SpokenTexts, spoken_texts

        assert self.voices is not None
        pipeline = assembly.opened(assembly.folder_of(self.voices), natives=("drawn",))
        content, native = pipeline.content, pipeline.natives.get("drawn")
        if not isinstance(content, WordCodeContent) or native is None:
            raise VoicenymError(
                f"{self.voices}: texts are learnt with word codes and drawn accents; give such a "
                "pipeline, or texts: 0"
            )
        place = self.cache_folder / "vectors"
        found = spoken_texts(
            utterances, content, native, reader.tokenizer, place, device, say=report.say
        )
        texts = SpokenTexts(found, content, native)
        return texts, DecoderLoss(reader.network, reader.writing, texts.tokens)

    def _fit(
        self,
        parts: Assembly,
        config: SynthesizerConfig,
        train: list[ConditionedUtterance],
        device: str,
        report: Report,
    ) -> None:
        """Fit the weights that read content to what the former content gave."""
        from voicenym.nets.content import content_encoders
        from voicenym.nets.encoder_folders import folder_of
        from voicenym.nets.synthesis import synthesizers
        from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
        from voicenym.training.synthesis import exchanged_content as exchange
        from voicenym.training.synthesis.synthesis_dataset import conditioned

        if self.start is None or self.former_content is None:
            raise VoicenymError("--former-content is for --from: give the synthesizer, too")
        network = synthesizers.load(self.start)
        encoder = content_encoders.load(folder_of("content", self.former_content))
        former = Assembly(encoder, parts.speaker, network, config.settings)
        some = train[:: max(1, len(train) // exchange.FITTED)]
        known = conditioned([item.utterance for item in some], former, self._features, device)
        share = exchange.fit_content(
            parts.synthesizer, network, exchange.frames_of_both(some, known)
        )
        report.say(f"{100.0 * share:.0f} % of what the former content gave is fitted")
