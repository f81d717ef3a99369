"""Recipe ``word-codes``: a discrete bottleneck before Whisper's decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.corpus.recordings import collect
from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.words.whisper.whisper_published import Published
    from voicenym.training.content.word_codes.train_word_codes import WordCodesConfig
    from voicenym.training.speech.speech_cache import Utterance


BUNDLED = "bundled"
"""Name of the bundled codes, to go on from."""
CONTENT = "content"
"""Folder of the content encoder, Whisper's encoder and the codes, within the output folder."""


@dataclass(frozen=True, kw_only=True)
class WordCodesRecipe(SpeechRecipe):
    """Train codes of words: a discrete bottleneck that Whisper's own decoder understands.

    Args:
        whisper: A Whisper of English: a name of models list, or a folder as ./FOLDER (ours, the
            hub's, or CTranslate2's).
        start: Folder of codes to go on from; 'bundled' for those of the package, of tiny.en.
        states: Folder for Whisper's states; default: within the output folder.
        prepare: Keep the states, and train nothing.
    """

    example: ClassVar[str] = "-d corpus/ -o codes/ --whisper whisper-tiny.en"
    configuration: ClassVar[str] = (
        "voicenym.training.content.word_codes.train_word_codes:WordCodesConfig"
    )

    config: str = option("--config", "-c", default="word-codes")
    whisper: str = option(default="whisper-tiny.en", teacher=True)
    start: Path | None = option("--from", default=None)
    states: Path | None = None
    prepare: bool = False

    def run(self, report: Report) -> Trained:
        """Extract Whisper's states, train and save the codes."""
        require_training()
        from voicenym.nets.content import content_encoders
        from voicenym.nets.content import word_code_bottleneck as codes
        from voicenym.nets.hub import place_of
        from voicenym.nets.words.whisper.whisper_published import published
        from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
        from voicenym.training.content.word_codes import train_word_codes as steps

        config = self.configured(steps.WordCodesConfig)
        resources = self.resources(report)
        whisper = published(Path(place_of(self.whisper)))
        network = whisper.network
        start = codes.BUNDLED if self.start == Path(BUNDLED) else self.start
        made = steps.new(config, network) if start is None else codes.load(start)
        if (made.sizes.states, made.sizes.window) != (network.sizes.width, network.sizes.states):
            raise VoicenymError(f"{self.start}: codes of another Whisper's states; give that one")
        device = "cuda" if resources["machine"].cuda else "cpu"
        train, held_out, utterances = self._windows(whisper, config, device, report)
        if self.prepare:
            counts = f"{len(train)} windows to learn from, {len(held_out)} to watch by"
            return Trained(self.output, 0, {}, (f"{self.state_folder()}: {counts}",))
        files = [path for path, _ in train]
        given = (made, network, files, held_out, config, self.output)
        outcome = steps.train(*given, speakers=dict(train), **resources)
        card = {
            **self.data_card(utterances),
            "states and decoder": f"{self.whisper}, encoder's last layer",
            "windows": len(train),
            "steps": outcome.steps,
            "nats a token on speakers kept out, who decided which checkpoint is the best": (
                outcome.best
            ),
        }
        codes.save(made, self.output, card, half=True)
        content = WordCodeContent.of(network, made)
        content_encoders.save(content, self.output / CONTENT, card, half=True)
        return self.result(
            outcome,
            {"nats a token on held-out speakers": outcome.best},
            f"content encoder of a synthesizer: {self.output / CONTENT}",
        )

    def state_folder(self) -> Path:
        """Folder of Whisper's states."""
        return self.states or self.output / "states"

    def _windows(
        self, whisper: Published, config: WordCodesConfig, device: str, report: Report
    ) -> tuple[list[tuple[Path, str]], list[Path], list[Utterance]]:
        """Files of Whisper's states for windows of speech, made where they are missing.

        Returns:
            Those to learn from with the speaker of each, empty for several; those of speakers kept
            out; and the utterances to learn from.
        """
        from voicenym.training.content.word_codes.speech_windows import (
            only_speaker,
            parted,
            pieces,
        )
        from voicenym.training.content.word_codes.word_state_dataset import StateFiles
        from voicenym.training.speech.speaker_split import speaker_split
        from voicenym.training.speech.voice_augmentation import VoiceAugmentation

        say, place = report.say, self.state_folder()
        plain = StateFiles(whisper, place, seed=config.seed, device=device)
        disguised = StateFiles(whisper, place, VoiceAugmentation(), seed=config.seed, device=device)
        train: list[tuple[Path, str]] = []
        held_out: list[Path] = []
        utterances: list[Utterance] = []
        for source in self.data:  # one by one: an added source leaves the windows of others alone
            recordings = collect(
                [source],
                self.split,
                self.corpus,
                report.skipped,
                level=self.speaker_level,
                allow_pipes=self.allow_pipes,
            )
            chosen, kept = speaker_split(recordings, config.held_out, config.seed)
            own, others = self.prepared(chosen, kept, report)
            texts = pieces(own, whisper, place, say)
            sets = [(plain, config.cut)]
            if config.disguised:
                sets.append((disguised, config.changed()))
            for files, cut in sets:
                windows = parted(texts, cut)
                train += zip(files(windows, say), map(only_speaker, windows), strict=True)
            held_out += plain(parted(pieces(others, whisper, place, say), config.cut), say)
            utterances += own
        return train, held_out, utterances
