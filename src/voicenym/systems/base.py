"""The bundled resynthesis system: a small model, offline, on a laptop's processor."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.identity import Identity, compatibility
from voicenym.identity.spec import parsed
from voicenym.nets.checkpoint import together, version
from voicenym.nets.content.bottleneck import RATE
from voicenym.nets.speakers.speaker_encoder import Encoder
from voicenym.nets.speakers.speaker_encoders import SMALL, load
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.bundled.analysis import RecordingReader
from voicenym.resynthesis.bundled.base_core import ResynthesisCore, Voice, scaled
from voicenym.resynthesis.bundled.model_parts import FARTHEST, HIGHEST_RANGE, LOWEST_RANGE, Parts

BUNDLED = Path(__file__).parents[1] / "resynthesis" / "bundled" / "base"


@dataclass(frozen=True)
class Base(Anonymizer):
    """Takes speech apart into content, pitch and power, and speaks them in a drawn voice.

    1. Content: a self-supervised network's few noisy numbers, fifty times a second.
    2. Pitch: ln F0 moved to the drawn voice's register and range.
    3. The voice: a speaker vector and a register that are drawn from what the training's speakers
       look like; the pseudonym alone decides.
    4. An inverse-STFT synthesizer speaks; frame by frame its power is made that of the input,
       and pauses are made equally quiet.

    A file is heard once before it is changed, for its averages; a live stream uses the averages of
    what it has heard so far.

    Args:
        weights: folder of ``voicenym train resynthesis``; the bundled ones unless given.
        identity: how the voice is chosen, as of :func:`voicenym.identity.spec.parsed`; drawn as
            above unless given. A method that goes by the speaker's own vector hears the whole
            recording first.
    """

    weights: str = ""
    identity: str = ""

    card: ClassVar[Card] = Card(
        name="base",
        title="Speech taken apart and spoken by a drawn voice: the bundled small model",
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
        needs="bundled weights (9 MB); 8 kHz or more; CPU or GPU; hears a file first, adapts when "
        "live",
        protects="ignorant verifiers in part, and weakly those who know the system but not the key",
        promises=(
            "length, channels, level contour, rhythm and the direction of intonation are kept; "
            "pauses become equally quiet",
            "no sample, phase or spectrum of the original reaches the output, only 1,700 bits a "
            "second, pitch and power",
        ),
        fails=(
            "an attacker who trains on its output finds many of the voices again: accent, rhythm, "
            "intonation and what passes through the bottleneck remain the speaker's",
            "words suffer: consonants are blurred, more so in languages, accents and noise that "
            "the training did not hold",
            "sounds like a vocoder; music, whispering and overlapping talkers suffer",
            "live, the first seconds of a stream are anonymized with ordinary averages",
        ),
        approximations=(
            "where the papers use a content encoder trained on a thousand hours, this one is "
            "trained on four, by rebuilding, and by speaking in other voices, which a speaker "
            "encoder judges",
        ),
    )

    def __post_init__(self) -> None:
        if self._method is not None:  # a fault in the text is told at once
            compatibility.fit(self._method, self.card.name)

    @property
    def version(self) -> str:
        return together(version(Path(self.weights or BUNDLED)), compatibility.version(self._method))

    def check(self) -> None:
        parts = self.parts
        if self._method is not None:
            known = version(SMALL)
            compatibility.tried(self._method, parts.voices.mean.cpu(), [known])

    @property
    def encoder(self) -> Encoder | None:
        hears = self._method is not None and self._method.hears
        return speaker_encoder(self.device) if hears else None

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_optional(self) -> bool:
        return self._method is None or not self._method.hears

    def working_rate(self, rate: int) -> int:
        return RATE

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return RecordingReader(self.parts, rows, lengths, self.device, self.encoder)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        averages = profile.averages if profile is not None else None
        vectors = profile.vectors if profile is not None else None
        return ResynthesisCore(self.parts, self.voice(pseudonyms, vectors), averages, self.device)

    def voice(self, pseudonyms: Sequence[Pseudonym], heard: torch.Tensor | None = None) -> Voice:
        """The voices of pseudonyms.

        Args:
            pseudonyms: one a row.
            heard: ``[row, element]``, the speakers' own vectors, where the identity goes by them.
        """
        parts, method = self.parts, self._method

        def normals(purpose: str, count: int) -> torch.Tensor:
            drawn = [p.normals(f"base.{purpose}", count) for p in pseudonyms]
            return torch.tensor(drawn).clamp(-FARTHEST, FARTHEST).to(self.device)

        if method is None:
            vectors = parts.voices.vectors(normals("voice", parts.voices.rank))
        else:
            given = parts.voices.mean.expand(len(pseudonyms), -1)
            if heard is not None:  # of a recording of no length there is nobody
                given = torch.where(heard.any(1, keepdim=True), heard.to(given), given)
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
        """Content encoder, synthesizer and voices, on the device."""
        return _loaded(self.weights or str(BUNDLED), self.device)

    @functools.cached_property
    def _method(self) -> Identity | None:
        return parsed(self.identity) if self.identity else None


@functools.lru_cache(maxsize=4)
def _loaded(folder: str, device: str) -> Parts:
    return Parts.load(Path(folder)).to(device)


@functools.lru_cache(maxsize=2)
def speaker_encoder(device: str) -> Encoder:
    """The encoder whose vectors the bundled parts know."""
    return load(SMALL).to(device)
