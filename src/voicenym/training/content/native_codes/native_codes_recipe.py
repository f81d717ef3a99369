"""Recipe ``native-codes``: an encoder of word codes that gives accented speech native codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.corpus.recordings import collect
from voicenym.errors import VoicenymError
from voicenym.training.content.word_codes.word_codes_recipe import BUNDLED
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.nets.content.word_code_bottleneck import WordCodes
    from voicenym.nets.content.word_code_encoder import WordCodeEncoder
    from voicenym.nets.words.whisper.whisper_published import Published
    from voicenym.training.content.native_codes.native_code_training_set import PairedSpeech
    from voicenym.training.content.native_codes.train_native_codes import NativeCodesConfig


NATIVE = Path("ssl", "drawn")
"""Folder of the bundled encoder of native codes, within the bundled assemblies."""


@dataclass(frozen=True, kw_only=True)
class NativeCodesRecipe(SpeechRecipe):
    """Train an encoder of word codes that gives accented speech the codes of a native reading.

    Args:
        readings: Recordings of the same texts by one native voice, as --data; may be repeated.
            Recordings of other texts keep their own codes.
        whisper: A Whisper of English: a name of models list, or a folder as ./FOLDER (ours, the
            hub's, or CTranslate2's).
        start: Folder of word codes, whose codebook is kept; 'bundled' for those of the package, of
            tiny.en.
        encoder: Folder of native codes to go on from, 'bundled' for those of the package; default:
            the encoder of --from.
        adversary: Weight of a branch that recognises speakers by the codes, against which the
            encoder learns; 0: none.
        accents: Directions of drawn accents, at most as many as a code has elements; 0: none.
        states: Folder for Whisper's states and codes of readings; default: within the output
            folder.
        prepare: Keep the states, and train nothing.
    """

    example: ClassVar[str] = "-d corpus/ --readings aloud/ -o native/"
    configuration: ClassVar[str] = (
        "voicenym.training.content.native_codes.train_native_codes:NativeCodesConfig"
    )

    config: str = option("--config", "-c", default="native-codes")
    readings: tuple[Path, ...] = option("--readings")
    whisper: str = option(default="whisper-tiny.en", teacher=True)
    start: Path = option("--from", default=Path(BUNDLED), teacher=True)
    encoder: Path | None = None
    adversary: float | None = option(default=None, minimum=0.0)
    accents: int = option(default=0, minimum=0)
    states: Path | None = None
    prepare: bool = False

    def run(self, report: Report) -> Trained:
        """Align recordings with readings, extract Whisper's states, train and save the encoder."""
        require_training()
        from voicenym.nets.content import word_code_encoder
        from voicenym.nets.hub import place_of
        from voicenym.nets.words.whisper.whisper_published import published
        from voicenym.training.content.native_codes import train_native_codes as steps
        from voicenym.training.content.native_codes.accent_directions import with_directions
        from voicenym.training.content.native_codes.native_code_training_set import TrainingSetMaker
        from voicenym.training.content.native_codes.native_code_windows import WindowReader

        config = self.configured(steps.NativeCodesConfig, adversary=self.adversary)
        resources = self.resources(report)
        whisper = published(Path(place_of(self.whisper)))
        codes, encoder = self._start(whisper, config)
        device = "cuda" if resources["machine"].cuda else "cpu"
        place = self.states or self.output / "states"
        speech = self._speech(config, report)
        made = TrainingSetMaker(whisper, codes, config, place, device, report.say)(speech)
        if self.prepare:
            line = f"{place}: {len(made.files)} windows to learn from, {len(made.held_out)} to "
            return Trained(self.output, 0, {}, (f"{line}watch by",))
        outcome = steps.train(
            encoder, codes, whisper.network, made.files, made.held_out, config, self.output,
            **resources,
        )  # fmt: skip
        card = {
            **self.data_card([*speech.chosen, *speech.others]),
            "readings": ", ".join(source.name for source in self.readings),
            "recordings aligned with a reading": made.aligned,
            "left out, too unlike their readings": made.left_out,
            "codebook and decoder": f"{self.start}, as they are",
            "states": f"{self.whisper}, encoder's last layer",
            "code of silence": made.silence,
            "weight of the branch that hides the speaker": config.adversary,
            "windows": len(made.files),
            "steps": outcome.steps,
            f"{steps.MONITOR} on speakers kept out, who decided which checkpoint is the best": (
                outcome.best
            ),
        }
        if self.accents:
            reader = WindowReader({})
            encoder = with_directions(
                encoder, codes, made.files, reader, made.silence, self.accents
            )
            card["directions of drawn accents"] = encoder.accents
        word_code_encoder.save(encoder, self.output, card, bits=8)
        return self.result(outcome, {f"{steps.MONITOR} on held-out speakers": outcome.best})

    def _start(
        self, whisper: Published, config: NativeCodesConfig
    ) -> tuple[WordCodes, WordCodeEncoder]:
        """Word codes whose codebook is kept, and the encoder to train.

        Raises:
            VoicenymError: codes of another Whisper.
        """
        from voicenym.nets.content import word_code_bottleneck
        from voicenym.resynthesis.pipeline import assembly
        from voicenym.training.content.native_codes import native_code_start

        start = word_code_bottleneck.BUNDLED if self.start == Path(BUNDLED) else self.start
        codes = word_code_bottleneck.load(start)
        sizes = whisper.network.sizes
        if (codes.sizes.states, codes.sizes.window) != (sizes.width, sizes.states):
            raise VoicenymError(f"{self.start}: codes of another Whisper's states; give that one")
        encoder = native_code_start.started(codes, config)
        if self.encoder is not None:
            bundled = self.encoder == Path(BUNDLED)
            place = assembly.BUNDLED / NATIVE if bundled else self.encoder
            native_code_start.go_on_from(encoder, place)
        return codes, encoder

    def _speech(self, config: NativeCodesConfig, report: Report) -> PairedSpeech:
        """Recordings and readings, decoded; some speakers with readings are held out."""
        from voicenym.training.content.native_codes.native_code_targets import matched
        from voicenym.training.content.native_codes.native_code_training_set import PairedSpeech
        from voicenym.training.speech.speaker_split import speaker_split

        recordings = self.recordings(report)
        read = collect(self.readings, None, (), report.skipped, allow_pipes=self.allow_pipes)
        pairs = matched(recordings, read)
        chosen, kept = speaker_split(list(pairs), config.held_out, config.seed)
        apart = {one.speaker for one in kept}
        others = [one for one in recordings if one not in pairs and one.speaker not in apart]
        needed = sorted(set(pairs.values()))
        learnt, watched = self.prepared([*chosen, *others, *needed], kept, report)
        utterances = {one.recording: one for one in [*learnt, *watched]}
        return PairedSpeech(pairs, chosen, watched, others, utterances)
