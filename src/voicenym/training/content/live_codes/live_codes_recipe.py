"""Recipe ``live-codes``: the encoder with which word codes are computed in live streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.content.word_codes.word_codes_recipe import BUNDLED
from voicenym.training.recipe import Trained, assembling, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
    from voicenym.training.content.live_codes.train_live_codes import Texts
    from voicenym.training.speech.speech_cache import Utterance


@dataclass(frozen=True, kw_only=True)
class LiveCodesRecipe(SpeechRecipe):
    """Train an encoder that gives live streams the word codes of whole recordings.

    Args:
        pipeline: Folder of voicenym models assemble, with word codes and drawn accents: whose codes
            it learns; 'bundled' for that of the package.
        start: Folder of an earlier run, whose weights to go on from.
        whisper: Whose decoder reads the codes, where the configuration gives words a weight: a name
            of models list, or a folder as ./FOLDER (ours, the hub's, or CTranslate2's).
    """

    example: ClassVar[str] = "-d corpus/ -o live/"
    configuration: ClassVar[str] = (
        "voicenym.training.content.live_codes.train_live_codes:LiveCodesConfig"
    )

    config: str = option("--config", "-c", default="live-codes")
    pipeline: Path = option(default=Path(BUNDLED), teacher=("content", "drawn"))
    start: Path | None = option("--from", default=None)
    whisper: str = option(default="whisper-tiny.en", teacher=True)

    def run(self, report: Report) -> Trained:
        """Compute the codes of whole recordings, train and save the encoder."""
        require_training()
        import torch

        from voicenym.nets.architectures import options_checked
        from voicenym.nets.words.word_codes import live_word_codes
        from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.content.live_codes import train_live_codes as steps
        from voicenym.training.content.live_codes.live_code_windows import taught
        from voicenym.training.speech.preparation import hours
        from voicenym.training.speech.speaker_split import speaker_split

        config = self.configured(steps.LiveCodesConfig)
        resources = self.resources(report)
        folder = assembly.BUNDLED / "ssl" if self.pipeline == Path(BUNDLED) else self.pipeline
        parts = assembly.opened(folder, natives=("drawn",))
        content, teacher = parts.content, parts.natives.get("drawn")
        if not isinstance(content, WordCodeContent) or teacher is None:
            raise VoicenymError(
                f"{self.pipeline}: a live encoder needs a pipeline with word codes and drawn "
                "accents; give one with --pipeline, or the bundled one"
            )
        with torch.random.fork_rng(devices=[]), options_checked("live codes, options"):
            torch.manual_seed(config.seed)
            network = live_word_codes.LiveWordCodes.of(
                content.encoder, content.whisper_sizes, teacher, **config.options
            )
        if self.start is not None:
            live_word_codes.go_on_from(network, self.start)
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        place = self.cache_folder / "vectors"
        speech, apart = self.prepared(chosen, kept, report)
        train = taught(speech, content, teacher, place, config.paces, say=report.say)
        held_out = taught(apart, content, teacher, place, say=report.say)
        texts = self._texts(speech, content, report) if config.words else None
        given = (network, content, teacher, train, held_out, config, self.output)
        outcome = steps.train(*given, texts=texts, **resources)
        card = {
            **self.data_card(speech),
            "hours": hours(speech),
            "steps": outcome.steps,
            "error of vectors on held-out speakers": round(outcome.best, 4),
        }
        live_word_codes.save(network, self.output, card, bits=8)
        return self.result(
            outcome,
            {"error of vectors on held-out speakers": outcome.best},
            assembling("live", self.output),
        )

    def _texts(
        self, speech: Sequence[Utterance], content: WordCodeContent, report: Report
    ) -> Texts:
        """Texts of recordings, by Whisper where they have none, and its decoder."""
        from voicenym.nets.hub import place_of
        from voicenym.nets.words.whisper.whisper_published import published
        from voicenym.training.content.live_codes.train_live_codes import Texts
        from voicenym.training.content.word_codes.speech_windows import pieces
        from voicenym.training.content.word_codes.transcript_tokens import Tokenizer

        whisper = published(Path(place_of(self.whisper)))
        if whisper.network.sizes.width != content.whisper_sizes.width:
            raise VoicenymError(
                f"{self.whisper}: codes of another Whisper's states; give that one with --whisper"
            )
        tokenizer, how = Tokenizer(whisper.tokenizer), whisper.writing
        read = pieces(speech, whisper, self.cache_folder / "transcripts", report.say)
        tokens = {piece.speech.path.stem: tokenizer.encode(piece.text) for piece in read}
        return Texts(whisper.network.decoder, tokens, tuple(how.begin), how.end)
