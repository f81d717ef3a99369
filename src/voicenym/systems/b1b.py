"""VoicePrivacy baseline B1.b: bottleneck features, x-vector and HiFi-GAN with an NSF source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from voicenym.anonymizer import Card
from voicenym.resynthesis.pipeline.card_text import (
    B1_STEPS,
    B1_UNLIKE,
    FAILS,
    NEEDS,
    PROMISES,
)
from voicenym.resynthesis.pipeline.vocoder_setting import VocoderSetting
from voicenym.resynthesis.pipeline.voice_choice import SelectionPipeline


@dataclass(frozen=True)
class B1b(VocoderSetting, SelectionPipeline):
    """B1.b: ASR bottleneck features, YAAPT F0, and HiFi-GAN with the source module of an NSF
    vocoder.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.voice_choice.SelectionPipeline`,
    and:

    Args:
        vocoder: ``hifigan``: the bundled small HiFi-GAN with a source, nearer to the published one
            than the bundled inverse-STFT vocoder, which keeps more words; empty: that of the
            weights.
    """

    other_vocoders: ClassVar[tuple[str, ...]] = ("hifigan",)
    folder_name: ClassVar[str] = "b1b"
    card: ClassVar[Card] = Card(
        name="b1b",
        title="VoicePrivacy baseline B1.b: bottleneck, x-vector selection, HiFi-GAN and NSF",
        paper="Tomashenko et al., the VoicePrivacy 2022 evaluation plan, baseline B1.b; after Fang "
        "et al., SSW 2019, Srivastava et al., Interspeech 2020, and Kong et al., 'HiFi-GAN', "
        "NeurIPS 2020",
        year=2022,
        equations=(
            *B1_STEPS,
            "waveform = HiFi-GAN(content, F0, x'), to each of whose stages 8 merged harmonics of "
            "F0 are added",
        ),
        needs=f"{NEEDS} (hifigan-nsf), pool/ with PLDA",
        protects="little: an attacker who trains on its output has an EER of 4 % (all channels "
        "fused, 47 speakers; 2 % with three recordings), one who knows it and does not train of "
        "13 %",
        promises=PROMISES,
        fails=(
            "pseudo-speakers are means, and resemble each other; published for B1.b: an attacker "
            "who trains on its output has an EER of 9.2 %",
            *FAILS,
            "the bundled weights are of English, and other languages are not detected: a warning "
            "says so, and their words are lost",
        ),
        approximations=(
            *B1_UNLIKE,
            "the bundled content: a TDNN-F of 1.5 million weights that classifies aligned phones "
            "and word codes of Whisper tiny.en, a frame of 256 numbers every 40 ms",
            "the bundled speaker encoder is ecapa-small, 192 numbers, where the x-vector is",
            "the bundled synthesizer is an inverse-STFT vocoder with a pulse source, 4.5 million "
            "weights, where HiFi-GAN with an NSF source is; vocoder=hifigan takes a HiFi-GAN of "
            "0.13 million weights with a source of pulses and noise over its frame network, and "
            "loses more words",
        ),
    )
