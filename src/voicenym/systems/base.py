"""``base``, the bundled resynthesis system: a small model that runs offline on a laptop CPU."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.errors import UnknownSystemError
from voicenym.identity import Identity, compatibility
from voicenym.identity.own_parts import methods_of
from voicenym.nets import convnext
from voicenym.nets.checkpoint import together, version
from voicenym.nets.content.bottleneck import RATE
from voicenym.nets.matrix_precision import SINGLE, unfit
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.speaker_encoders import SMALL, load
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.bundled.analysis import Profile, RecordingReader
from voicenym.resynthesis.bundled.base_core import ResynthesisCore, Voice, scaled
from voicenym.resynthesis.bundled.model_parts import FARTHEST, HIGHEST_RANGE, LOWEST_RANGE, Parts

BUNDLED = Path(__file__).parents[1] / "resynthesis" / "bundled" / "base"


@dataclass(frozen=True)
class Base(Anonymizer):
    """Decomposes speech into content, pitch and power, and resynthesises it in a drawn voice.

    1. Content: a narrow, noisy bottleneck of a self-supervised network, 50 frames a second.
    2. Pitch: ln F0, transformed to the mean and deviation of the drawn voice.
    3. Voice: a speaker vector and a mean ln F0 drawn from the distribution of the training
       speakers; they depend on the pseudonym alone.
    4. Synthesis: an inverse-STFT synthesizer. Each frame gets the power of the input frame, and
       pauses are attenuated to a common level.

    A first pass over a file computes its averages; a live stream uses running averages.

    Args:
        weights: folder written by ``voicenym train resynthesis``; default: the bundled weights.
        identity: identity method that chooses the voice, see :func:`voicenym.identity.identity`;
            default: the draw above. A method that depends on the speaker's own vector needs the
            whole recording.
        precision: of the synthesizer's large matrix products: ``single``, or ``bfloat16`` where the
            processor has it, whose error is 60 dB below the speech.
    """

    weights: str = ""
    identity: str = ""
    precision: str = SINGLE

    profile_type: ClassVar[type] = Profile
    running_averages: ClassVar[bool] = True
    unnamed_values: ClassVar[Mapping[str, Any]] = {"precision": SINGLE}
    card: ClassVar[Card] = Card(
        name="base",
        title="Bundled small model: content, pitch and power resynthesised in a drawn voice",
        paper="after the pipeline of Fang et al., SSW 2019 (B1), and Miao et al., Odyssey 2022 "
        "(SSL-SAS); content by a bottleneck as in Qian et al., 'AutoVC', ICML 2019, and Choi et "
        "al., 'NANSY', NeurIPS 2021; synthesis after Siuzdak, 'Vocos', ICLR 2024",
        year=2026,
        equations=(
            "content c = tanh(f(bands - mean)) + U(-1/6, 1/6), 12 numbers, 50 Hz",
            "ln F0' = mu' + s (ln F0 - mu)",
            "voice v = m + sum_k n_k s_k u_k, n_k ~ N(0, 1); mu' = a v + b + N(0, r)",
            "waveform = iSTFT(filter(c, p, F0', v) pulses + |noise filter| noise)",
        ),
        needs="bundled weights (9 MB); 8 kHz or more; CPU or GPU; two passes over a file, running "
        "averages when live",
        protects="ignorant verifiers in part, and weakly those who know the system but not the key",
        promises=(
            "length, channels, level contour, rhythm and the direction of intonation are kept; "
            "pauses are attenuated to a common level",
            "no sample, phase or spectrum of the original reaches the output, only content, pitch "
            "and power; content has at most 1,684 bits a second for those who do not have the key, "
            "which draws the noise that bounds it",
        ),
        fails=(
            "an attacker who trains on its output re-identifies many speakers: accent, rhythm, "
            "intonation and the speaker information in the bottleneck remain",
            "the word error rate rises: consonants blur, more so in languages, accents and noise "
            "that are absent from the training data",
            "the output sounds vocoded; music, whispering and overlapping talkers are reproduced "
            "badly",
            "live, the first seconds of a stream are anonymized with typical averages",
        ),
        approximations=(
            "the papers use a content encoder trained on a thousand hours; this one is trained on "
            "four, with a reconstruction loss and with a voice conversion loss of a speaker "
            "encoder",
        ),
    )

    def __post_init__(self) -> None:
        if reason := unfit(self.precision, self.device):
            raise UnknownSystemError(f"{self.card.name}: {reason}")
        if self._method is not None:  # a malformed specification fails at construction
            compatibility.fit(self._method, self.card.name, direction=True)

    @property
    def version(self) -> str:
        return together(version(Path(self.weights or BUNDLED)), compatibility.version(self._method))

    def check(self) -> None:
        parts = self.parts
        if self._method is not None:
            known = version(SMALL)
            compatibility.tried(self._method, parts.voices.mean.cpu(), [known])

    @property
    def draws(self) -> bool:
        return self._method is None or self._method.draws

    @property
    def encoder(self) -> Encoder | None:
        dependent = self._method is not None and self._method.source_dependent
        return speaker_encoder(self.device) if dependent else None

    def median_f0(self, pseudonym: Pseudonym) -> float | None:
        if self._method is not None and self._method.source_dependent:
            return None
        return math.exp(float(self.voice([pseudonym]).log_f0[0]))

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_optional(self) -> bool:
        return self._method is None or not self._method.source_dependent

    def working_rate(self, rate: int) -> int:
        return RATE

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return RecordingReader(self.parts, rows, lengths, self.device, self.encoder)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        averages = profile.averages if profile is not None else None
        vectors = profile.vectors if profile is not None else None
        return ResynthesisCore(self.parts, self.voice(pseudonyms, vectors), averages, self.device)

    def voice(self, pseudonyms: Sequence[Pseudonym], own: torch.Tensor | None = None) -> Voice:
        """Target voices of pseudonyms.

        Args:
            pseudonyms: one a row.
            own: ``[row, element]``, the speakers' own vectors, for identity methods that use them.
        """
        parts, method = self.parts, self._method

        def normals(purpose: str, count: int) -> torch.Tensor:
            drawn = [p.normals(f"base.{purpose}", count) for p in pseudonyms]
            return torch.tensor(drawn).clamp(-FARTHEST, FARTHEST).to(self.device)

        if method is None:
            vectors = parts.voices.vectors(normals("voice", parts.voices.rank))
        else:
            given = parts.voices.mean.expand(len(pseudonyms), -1)
            if own is not None:  # an empty recording has no speaker vector
                given = torch.where(own.any(1, keepdim=True), own.to(given), given)
            vectors = scaled(method.batch(given.cpu(), pseudonyms)).to(self.device)
        ranges = [p.uniform("base.range", LOWEST_RANGE, HIGHEST_RANGE) for p in pseudonyms]
        seeds = [p.index("base.noise", 2**62) for p in pseudonyms]
        return Voice(
            vectors,
            parts.voices.log_f0(vectors, normals("register", 1)[:, 0]),
            torch.tensor(ranges, device=self.device),
            torch.tensor(seeds, dtype=torch.int64, device=self.device),
        )

    @property
    def parts(self) -> Parts:
        """Content encoder, synthesizer and voice model, on the device."""
        return _loaded(self.weights or str(BUNDLED), self.device, self.precision)

    @functools.cached_property
    def _method(self) -> Identity | None:
        if not self.identity:
            return None
        from voicenym.resynthesis.pipeline.assembly import BUNDLED as PIPELINES
        from voicenym.resynthesis.pipeline.assembly import choice

        return methods_of(lambda name: str(choice(PIPELINES / "ssl", name))).load(self.identity)


@functools.lru_cache(maxsize=4)
def _loaded(folder: str, device: str, precision: str) -> Parts:
    made = Parts.load(Path(folder)).to(device)
    if precision != SINGLE:
        convnext.lower(made.synthesizer)
    return made


@functools.lru_cache(maxsize=2)
def speaker_encoder(device: str) -> Encoder:
    """The speaker encoder whose vectors the bundled model is trained on."""
    return load(SMALL).to(device)
