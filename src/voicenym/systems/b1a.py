"""VoicePrivacy baseline B1.a: bottleneck features, x-vector, acoustic model and NSF vocoder."""

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
class B1a(VocoderSetting, SelectionPipeline):
    """B1.a: ASR bottleneck features, YAAPT F0, an acoustic model and a neural source-filter
    vocoder.

    Parameters are those of :class:`~voicenym.resynthesis.pipeline.voice_choice.SelectionPipeline`,
    and:

    Args:
        vocoder: ``nsf``: the bundled source-filter model, nearer to the published one than the
            bundled inverse-STFT vocoder, which keeps more words; empty: that of the weights.
    """

    other_vocoders: ClassVar[tuple[str, ...]] = ("nsf",)
    folder_name: ClassVar[str] = "b1a"
    card: ClassVar[Card] = Card(
        name="b1a",
        title="VoicePrivacy baseline B1.a: bottleneck, x-vector selection, acoustic model, NSF",
        paper="Fang et al., 'Speaker anonymization using x-vector and neural waveform models', SSW "
        "2019; Srivastava et al., Interspeech 2020; Tomashenko et al., the VoicePrivacy 2020 and "
        "2022 evaluation plans",
        year=2019,
        equations=(
            *B1_STEPS,
            "mels = acoustic model(content, F0, x'); waveform = harmonic-plus-noise NSF(mels, F0, "
            "x')",
        ),
        needs=f"{NEEDS} (of two models, such as acoustic-nsf or acoustic-istft), pool/ with PLDA",
        protects="little: an attacker who trains on its output has an EER of 5 % (all channels "
        "fused, 47 speakers; 2 % with three recordings), one who knows it and does not train of "
        "15 %",
        promises=PROMISES,
        fails=(
            "pseudo-speakers are means, and resemble each other; published for B1.a: an attacker "
            "who trains on its output has an EER of 11.8 %",
            *FAILS,
            "the bundled weights are of English, and other languages are not detected: a warning "
            "says so, and their words are lost",
        ),
        approximations=(
            *B1_UNLIKE,
            "the acoustic model is not autoregressive: it has no feedback of its own output; sizes "
            "of its layers are ours",
            "long recordings: windows of 10 s meet at unvoiced frames",
            "the bundled content is that of b1b, and the speaker encoder ecapa-small, 192 numbers, "
            "where the x-vector is",
            "the bundled vocoder is an inverse-STFT vocoder with a source of pulses and noise, "
            "whose network runs once a frame, where the NSF is; acoustic model and vocoder were "
            "trained together, and the mels between them are kept mels by a loss; vocoder=nsf "
            "takes a source-filter model with four samples a step, a pulse train for eight sines "
            "and the level of the mels as a factor, and loses more words",
        ),
    )
