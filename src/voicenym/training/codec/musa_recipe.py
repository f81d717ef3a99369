"""Recipe ``musa``: a codec that separates the speaker from the content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import VoicenymError
from voicenym.training.recipe import Trained, option
from voicenym.training.recipe_options import SpeechRecipe
from voicenym.training.run.former_run_names import present_or_former
from voicenym.training.run.progress_report import Report
from voicenym.training.run.resources import require_training

if TYPE_CHECKING:
    from voicenym.training.codec.codec_losses import Teacher
    from voicenym.training.run.machine import Machine

NO_TEACHER = "none"
BUNDLED = "bundled"
"""Word codes of the package."""


@dataclass(frozen=True, kw_only=True)
class MusaRecipe(SpeechRecipe):
    """Train MUSA's codec: serial disentanglement of speaker, content and prosody.

    Args:
        units: Target of the first codebook: a folder of voicenym train units or tokenizer, or a
            content encoder of word codes; 'bundled' for the package's word codes, of English.
            none: no target (the ablation), with weights: {semantic: 0} in the configuration.
        features: Features whose clusters the units are, unless cepstra or base: a HuBERT,
            wav2vec2:PLACE or narrow:FOLDER.
        start: Folder of a codec to go on from.
        whisper: A Whisper whose states of original and decoded speech are to agree, where the
            configuration weighs words; as of voicenym train word-codes.
        half: Keep the result in half precision.
        bits: Keep matrices as integers of so many bits, up to 8, and the rest in half precision.
        batch: Crops in a step.
    """

    example: ClassVar[str] = "-d corpus/ -c musa-small -o codec/ --units tokenizer/"
    configuration: ClassVar[str] = "voicenym.training.codec.musa_config:MusaConfig"

    units: str = option(default=NO_TEACHER, teacher=True)
    features: str | None = option(default=None, teacher=True)
    start: Path | None = option("--from", default=None)
    whisper: str | None = option(default=None, teacher=True)
    half: bool = False
    bits: int = option(default=0, minimum=0)
    batch: int | None = option(default=None, minimum=2)

    def run(self, report: Report) -> Trained:
        """Train and save the codec."""
        require_training()
        from voicenym.nets.codec.codec import Codec
        from voicenym.nets.hub import place_of
        from voicenym.nets.words.whisper.whisper_published import published
        from voicenym.training.codec import train_musa as steps
        from voicenym.training.codec.codec_dataset import labelled
        from voicenym.training.codec.musa_config import MusaConfig
        from voicenym.training.speech.preparation import hours
        from voicenym.training.speech.speaker_split import speaker_split

        if not (self.bits == 0 or 2 <= self.bits <= 8):
            raise VoicenymError(f"--bits is 2 to 8, not {self.bits}")
        config = self.configured(MusaConfig, batch=self.batch)
        resources = self.resources(report)
        codec = steps.new(config) if self.start is None else Codec.load(self.start)[0]
        teacher = None
        if self.units != NO_TEACHER:
            teacher = teacher_of(self.units, self.features, codec.hop, resources["machine"])
        steps.checked(config, codec, teacher)
        recogniser = None
        if self.whisper is not None:
            recogniser = published(Path(place_of(self.whisper))).network.encoder
        chosen, kept = speaker_split(self.recordings(report), config.held_out, config.seed)
        utterances, others = self.prepared(chosen, kept, report)
        folder = present_or_former(self.output, "labels", "told")
        if self.cache is not None and not folder.is_dir():
            folder = self.cache / "labels"  # which trainings of one teacher share
        both = labelled([*utterances, *others], teacher, folder, report.say)
        train, held_out = both[: len(utterances)], both[len(utterances) :]
        outcome = steps.train(
            codec, train, held_out, config, self.output,
            teacher=teacher, recogniser=recogniser, **resources,
        )  # fmt: skip
        card = {
            **self.data_card(utterances),
            "hours": hours(utterances),
            "teacher": None if teacher is None else teacher.source,
            "steps": outcome.steps,
            "mel distance on speakers kept out": round(outcome.best, 4),
        }
        codec.save(self.output, half=self.half, bits=self.bits, card=card)
        return self.result(outcome, {"mel distance on held-out speakers": outcome.best})


def teacher_of(place: str, features: str | None, hop: int, machine: Machine) -> Teacher:
    """Units, a tokenizer or word codes, with the features that they were found in.

    Args:
        place: folder, or ``bundled``.
        features: of units and tokenizers, see
            :func:`voicenym.training.content.units.unit_features.features_behind`.
        hop: samples of the codec's frame.
        machine: to run on.

    Raises:
        VoicenymError: other features are given, or none; word codes that do not fit the frame.
    """
    from voicenym.nets.checkpoint import configuration
    from voicenym.nets.content import tokenizer
    from voicenym.nets.content.units import Units
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
    from voicenym.training.codec.codec_losses import CodeTeacher, UnitTeacher
    from voicenym.training.content.bottleneck.frame_targets import word_code_encoder
    from voicenym.training.content.units.unit_features import features_behind

    folder = Path(place)
    kind = BUNDLED if place == BUNDLED else configuration(folder).get("kind")
    if kind in (BUNDLED, WordCodeContent.kind):
        return CodeTeacher(word_code_encoder(place), hop)
    units = tokenizer.Tokenizer.load(folder) if kind == tokenizer.KIND else Units.load(folder)
    return UnitTeacher(features_behind(folder, units.source, features, machine), units)
