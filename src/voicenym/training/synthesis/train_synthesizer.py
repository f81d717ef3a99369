"""Training of a synthesizer with frozen content, pitch and speaker features.

The synthesizers of pipelines: HiFi-GAN, HiFi-GAN with an excitation (B1.b), an inverse-STFT
vocoder, its frame network with a small HiFi-GAN, or an acoustic model with a source-filter model
(B1.a), a folded one, or an inverse-STFT vocoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import CorpusError, VoicenymError
from voicenym.nets.content import content_encoders as contents
from voicenym.nets.speakers import speaker_encoders as encoders
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.synthesis import synthesizers
from voicenym.nets.synthesis.acoustic_nsf import AcousticNsf
from voicenym.nets.synthesis.convnext_hifigan import ConvNextHifiGan
from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.nsf import Standardize
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.synthesis.two_stage_synthesizer import TwoStageSynthesizer
from voicenym.nets.weights.weight_norm import fold, normalize_weights
from voicenym.nets.words.whisper.whisper import Encoder as WhisperEncoder
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.synthesis_settings import TrainingRecord, names
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.resume_check import check_resume
from voicenym.training.synthesis.connecting_mels import standardize
from voicenym.training.synthesis.converted_crops import LEAST_ROWS
from voicenym.training.synthesis.decoder_loss import DecoderLoss
from voicenym.training.synthesis.drawn_voices import DrawnVoices
from voicenym.training.synthesis.exchanged_content import with_content
from voicenym.training.synthesis.source_filter_step import SourceFilter
from voicenym.training.synthesis.spoken_texts import SpokenTexts
from voicenym.training.synthesis.synthesis_dataset import (
    CentreCrops,
    ConditionedUtterance,
    SynthesisCrops,
)
from voicenym.training.synthesis.synthesizer_step import (
    FFT,
    Adversarial,
    Speaking,
    SynthesizerConfig,
)
from voicenym.training.synthesis.two_stage_step import TwoStage

VALIDATION_UTTERANCES = 48
"""Utterances in a validation."""
FIRST_PARTS: tuple[tuple[type[Synthesizer], type[Synthesizer]], ...] = (
    (TwoStageSynthesizer, TwoStageSynthesizer),
    (IstftVocoder, ConvNextHifiGan),
)
"""Synthesizers of which the first part goes on under another vocoder, and what it goes on in."""


def parts(
    config: SynthesizerConfig, content: Path, speaker: Path, start: Path | None = None
) -> tuple[Assembly, TrainingRecord]:
    """A synthesizer to train with its encoders, and the training record for its folder.

    Args:
        config: the recipe; new weights depend on its seed alone.
        content, speaker: folders.
        start: folder of a synthesizer to go on from; None for a new one. Where its content has
            another size, the weights that read content are new
            (:mod:`voicenym.training.synthesis.exchanged_content`); where it has another vocoder,
            its acoustic model, or frame network, is kept.

    Raises:
        DependencyError, VoicenymError: folders of something else, a recipe that cannot be trained,
            or parts that do not fit each other.
    """
    content_encoder, speaker_encoder = contents.load(content), encoders.load(speaker)
    network = _network(config, content_encoder.size, speaker_encoder.size, start)
    if round(config.seconds * network.rate) < FFT:
        raise VoicenymError(f"seconds: crops of {config.seconds} s are too short; give 0.1 or more")
    if isinstance(network, AcousticNsf) and config.adversarial < 1.0:
        raise VoicenymError(f"{network.kind} learns without discriminators: give adversarial: 1.0")
    known = (tuple(sorted(names(place))) for place in (content, speaker))
    return Assembly(content_encoder, speaker_encoder, network, config.settings), TrainingRecord(
        config.settings, *known
    )


def _network(
    config: SynthesizerConfig, content: int, speaker: int, start: Path | None
) -> Synthesizer:
    """The synthesizer that a training begins with.

    Args:
        config: the recipe.
        content, speaker: elements of a content frame and of a speaker vector.
        start: as of :func:`parts`.

    Raises:
        VoicenymError: a start of another kind, unless its first part, acoustic model or frame
            network, is one of the configuration's, too, and of the same size.
    """
    former = None if start is None else synthesizers.load(start)
    if former is not None and former.kind == config.synthesizer:
        return with_content(former, content, config.seed)
    if former is not None and not any(
        isinstance(former, a) and _makes(config, b) for a, b in FIRST_PARTS
    ):
        raise VoicenymError(
            f"{start}: is of the kind {former.kind}, and the configuration needs "
            f"{config.synthesizer}"
        )
    options = {**config.options, "content": content, "speaker": speaker}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = synthesizers.make(config.synthesizer, options)
    if isinstance(former, TwoStageSynthesizer) and isinstance(network, TwoStageSynthesizer):
        _take_over(network.acoustic, former.acoustic, f"{start}: its acoustic model")
        for part in network.modules():
            if isinstance(part, Standardize):
                part.load_state_dict(former.acoustic.standardize.state_dict())
    elif isinstance(former, IstftVocoder) and isinstance(network, ConvNextHifiGan):
        _take_over(network.frames, former, f"{start}: its frame network")
    return network


def _makes(config: SynthesizerConfig, kind: type[Synthesizer]) -> bool:
    """Whether a configuration's synthesizer is of a kind."""
    made = synthesizers.KINDS.registry.get(config.synthesizer)
    return isinstance(made, type) and issubclass(made, kind)


def _take_over(own: torch.nn.Module, former: torch.nn.Module, what: str) -> None:
    """Fills a part of a synthesizer with the weights of that of another.

    Raises:
        VoicenymError: they have other sizes.
    """
    state = former.state_dict()
    if {n: v.shape for n, v in state.items()} != {n: v.shape for n, v in own.state_dict().items()}:
        raise VoicenymError(
            f"{what} has another size than the configuration's: give the same sizes, and the "
            "content that it was trained with"
        )
    own.load_state_dict(state)


def check_resumable(
    folder: Path, parts: Assembly, record: TrainingRecord, config: SynthesizerConfig
) -> None:
    """Refuse to continue a run that was started with other parts.

    Raises:
        VoicenymError: as :func:`voicenym.training.run.resume_check.check_resume`.
    """
    (settings,) = record.config().values()
    network = parts.synthesizer
    discriminators = config.discriminators if config.adversarial < 1.0 else {}
    check_resume(
        folder,
        {
            **settings,
            "synthesizer": {network.kind: network.config()},
            "discriminators": discriminators,
        },
    )


def train(
    network: Synthesizer,
    utterances: Sequence[ConditionedUtterance],
    held_out: Sequence[ConditionedUtterance],
    config: SynthesizerConfig,
    folder: Path,
    *,
    recogniser: WhisperEncoder | None = None,
    voices: DrawnVoices | None = None,
    texts: tuple[SpokenTexts, DecoderLoss] | None = None,
    encoder: Encoder | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a synthesizer; afterwards it has the weights of its best validation.

    Args:
        network: new, or with weights to continue from.
        utterances: training utterances.
        held_out: the same of held-out speakers, for validation.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        recogniser: encoder of the distance that ``config.words`` weighs.
        voices: of the crops that ``config.drawn`` asks for.
        texts: recordings of the loss that ``config.texts`` weighs, and the loss.
        encoder: of the speaker vectors that ``config.speaker`` compares.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training utterances, or no held-out ones.
        VoicenymError: ``config.words`` without a recogniser, ``config.converted`` or
            ``config.drawn`` without words, ``config.converted`` with too small a batch,
            ``config.drawn`` without voices, ``config.texts`` without texts and voices,
            ``config.speaker`` without an encoder whose vectors have a direction; and as
            :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    if config.words and recogniser is None:
        raise VoicenymError("the configuration weighs words: give a Whisper, --whisper")
    if config.converted and not (config.words and config.batch >= LEAST_ROWS):
        raise VoicenymError(
            f"converted: {config.converted} of the crops in other voices need words above 0 and a "
            f"batch of {LEAST_ROWS} or more: change them, or give converted: 0"
        )
    if config.drawn and not (config.words and voices is not None):
        raise VoicenymError(
            f"drawn: {config.drawn} of the crops in drawn voices need words above 0 and a pipeline "
            "that draws them: give --voices, or drawn: 0"
        )
    if config.texts and (texts is None or voices is None):
        raise VoicenymError(
            f"texts: {config.texts} needs a Whisper that reads them and a pipeline that draws "
            "accents and voices: give --whisper and --voices, or texts: 0"
        )
    if config.speaker and (encoder is None or encoder.hertz):
        raise VoicenymError(
            f"speaker: {config.speaker} compares speaker vectors by their direction: give an "
            "encoder of such vectors (--speaker ecapa-small), or speaker: 0"
        )
    count = machine.crops(config.every, config.batch)
    crops = SynthesisCrops(utterances, config.seconds, config.peak, count, config.seed)
    middles = CentreCrops(held_out, config.peak, VALIDATION_UTTERANCES, -(-FFT // network.hop))
    if not len(middles):
        raise CorpusError("nothing of the speakers kept out is long enough to watch by; give more")
    network.requires_grad_(True).train()
    module: Speaking
    if isinstance(network, AcousticNsf):
        standardize(network, crops)
        module = SourceFilter(network, config)
    else:
        every = utterances[0].every if utterances else 1
        if isinstance(network, TwoStageSynthesizer):
            standardize(network, crops)
            module = TwoStage(network, config, recogniser, voices, every, texts, encoder)
        else:
            if isinstance(network, HifiGan):
                normalize_weights(network)
            elif isinstance(network, ConvNextHifiGan):
                normalize_weights(network.vocoder)
                network.frames.requires_grad_(config.acoustic)
            module = Adversarial(network, config, recogniser, voices, every, texts, encoder)
    loader: dict[str, Any] = machine.loading
    try:
        outcome = fit_configured(
            module,
            torch.utils.data.DataLoader(crops, config.batch, drop_last=True, **loader),
            torch.utils.data.DataLoader(middles, 1),
            folder,
            config,
            seconds,
            monitor="mel distance",
            machine=machine,
            clip=None,
            say=say,
        )
    finally:
        fold(network)
    network.eval()
    return outcome
