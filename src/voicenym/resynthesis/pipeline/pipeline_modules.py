"""Modules of a pipeline: loaded networks and settings that fit each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from voicenym.dsp.pitch.trackers import Tracker, tracker
from voicenym.errors import VoicenymError
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.language_scores import LanguageScores
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.identity.frequency_voices import FrequencyVoices
from voicenym.nets.speakers.formant_pitch_encoder import octaves
from voicenym.nets.speakers.speaker_encoder import RATE, Encoder
from voicenym.nets.synthesis.duration_predictor import DurationPredictor
from voicenym.nets.synthesis.f0_predictor import F0Predictor
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.resynthesis.pipeline.synthesis_settings import Settings


@dataclass(frozen=True, eq=False)
class Assembly:
    """Modules of a pipeline.

    Args:
        content, speaker, synthesizer: networks, ready for use.
        settings: conditioning settings of the synthesizer.
        f0_predictor: of F0 from content; None where F0 is copied.
        language: scores of other languages; None if unknown.
        durations: predictor of durations from content; None where timing is not drawn.
        natives: encoders of codes of a native reading by accent; none where the accent is kept.
        live_codes: encoder of live streams; None where windows are encoded again.
        frequency_voices: speaker vectors of the frequencies that the speaker encoder measures, for
            a synthesizer of vectors; None where the encoder gives what the synthesizer reads.

    Raises:
        VoicenymError: incompatible modules; the first mismatch is named.
    """

    content: Content
    speaker: Encoder
    synthesizer: Synthesizer
    settings: Settings
    f0_predictor: F0Predictor | None = None
    language: LanguageScores | None = None
    durations: DurationPredictor | None = None
    natives: Mapping[str, WordCodeEncoder] = field(default_factory=dict)
    live_codes: LiveWordCodes | None = None
    frequency_voices: FrequencyVoices | None = None

    def __post_init__(self) -> None:
        self._check_sizes()
        self._check_frames()
        self._check_predictors()
        self._check_language()
        self.content.score_languages(self.language)
        for accent, encoder in self.natives.items():
            if accent == "drawn" and not encoder.accents:
                raise VoicenymError(
                    "drawn: this encoder of native codes has no directions of accents; train it "
                    "with train native-codes --accents, or add it as --native"
                )
            self.content.take_native(encoder, accent)
        if self.live_codes is not None:
            self._check_live(self.live_codes)

    def _check_sizes(self) -> None:
        """Raises VoicenymError for vectors that the synthesizer was not trained on."""
        recorded = self.synthesizer.config()
        voices = self.frequency_voices
        given = (("content", self.content), ("speaker", self.speaker if voices is None else voices))
        for name, network in given:
            has, wants = network.size, int(recorded[name])
            if has != wants:
                raise VoicenymError(
                    f"the {name} ({network.kind}) gives {has} numbers, and the synthesizer "
                    f"({self.synthesizer.kind}) was trained on {wants}: take the {name} it was "
                    "trained with, or another synthesizer"
                )
        hertz = self.speaker.hertz and voices is None
        if hertz != (self.settings.scale == "octaves"):
            gives = "frequencies in Hz" if hertz else "vectors, and no frequencies"
            cure = "octaves" if hertz else "none, unit or root"
            raise VoicenymError(
                f"the speaker ({self.speaker.kind}) gives {gives}: set --scale {cure}, as the "
                "synthesizer was trained"
            )

    def _check_frames(self) -> None:
        """Raises VoicenymError for rates and frames that do not divide each other."""
        rates = {self.content.rate, self.speaker.RATE, self.synthesizer.rate}
        if rates != {RATE}:
            raise VoicenymError(
                f"parts work at {', '.join(map(str, sorted(rates)))} Hz; all need {RATE}"
            )
        if self.content.hop % self.synthesizer.hop:
            raise VoicenymError(
                f"frames of content ({self.content.hop} samples) are not made of frames of the "
                f"synthesizer ({self.synthesizer.hop}): take parts of which one divides the other"
            )

    def _check_predictors(self) -> None:
        """Raises VoicenymError for predictors of F0 and durations of other content."""
        if self.f0_predictor is not None:
            f0, hop = self.f0_predictor, self.synthesizer.hop
            wanted = self.content.size, self.content.hop // hop, hop
            if (f0.content, f0.every, f0.hop) != wanted:
                raise VoicenymError(
                    f"the predictor of F0 is of content of {f0.content} numbers, {f0.every} F0 "
                    f"frames of {f0.hop} samples each, and the pipeline has {wanted[0]}, "
                    f"{wanted[1]} and {wanted[2]}: train it again with --pipeline"
                )

        if self.durations is not None:
            found = self.durations.content, self.durations.hop
            if found != (self.content.size, self.content.hop):
                raise VoicenymError(
                    f"the predictor of durations is of content of {found[0]} numbers each "
                    f"{found[1]} samples, and the pipeline has {self.content.size} each "
                    f"{self.content.hop}: train it again with --pipeline"
                )

    def _check_language(self) -> None:
        """Raises VoicenymError for language scores of other content."""
        if self.language is not None and self.language.size != self.content.state_size:
            raise VoicenymError(
                f"the language scores are of states of {self.language.size} numbers, and the "
                f"content ({self.content.kind}) has {self.content.state_size or 'none'}: train "
                "them again with --content"
            )

    def _check_live(self, network: LiveWordCodes) -> None:
        """Raises VoicenymError for a live encoder that was trained for other modules."""
        content, head = self.content, self.natives.get("drawn")
        if (
            not isinstance(content, WordCodeContent)
            or head is None
            or network.teacher != live_word_codes.together(content.encoder, head)
        ):
            raise VoicenymError(
                "live: this encoder was trained for another content, or other drawn accents; train "
                "it again with train live-codes --pipeline, or leave it out"
            )

    def scaled(self, vectors: torch.Tensor) -> torch.Tensor:
        """What the speaker encoder gives, ``[..., element]``, as the synthesizer reads it."""
        if self.frequency_voices is not None:
            vectors = self.frequency_voices(octaves(vectors))
        return self.settings.scaled(vectors)

    @property
    def tracker(self) -> Tracker:
        """F0 tracker with the frame rate of the synthesizer."""
        chosen = self.settings
        return tracker(
            chosen.tracker,
            hop=self.synthesizer.hop / RATE,
            lowest=chosen.lowest,
            highest=chosen.highest,
        )

    def to(self, device: str) -> Assembly:
        """The modules on a device."""
        optional = (
            self.f0_predictor,
            self.language,
            self.durations,
            *self.natives.values(),
            self.live_codes,
        )
        for network in (self.content, self.speaker, self.synthesizer, *optional):
            if network is not None:
                network.to(device).requires_grad_(False)
        return self
