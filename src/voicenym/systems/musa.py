"""MUSA: a codec takes the speaker away first, and speech comes back in an empty or turned voice."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.errors import UnknownSystemError, WeightsError
from voicenym.identity import Identity, compatibility
from voicenym.identity.spec import parsed
from voicenym.nets.checkpoint import CONFIG, together, version
from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.weights_home import home
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.bundled.analysis import VectorReader
from voicenym.resynthesis.codec.codec_anonymization import rotation, voices
from voicenym.resynthesis.codec.codec_core import CodecSpeakers, CodedCore, LiveCodedCore

HOW = "voicenym train musa --data CORPUS --config musa-small -o FOLDER"


@dataclass(frozen=True)
class Profile:
    """A recording as a whole.

    Args:
        own: ``[row, size]`` of its speakers.
        lengths: samples of each row, where rows are padded.
    """

    own: torch.Tensor
    lengths: tuple[int, ...] | None


@dataclass(frozen=True)
class Musa(Anonymizer):
    """Codes speech with the speaker taken away first, and decodes it in another voice.

    1. A speech encoder makes frames of 20 ms; the speaker's vector, heard in the whole recording,
       is subtracted from them.
    2. Eight codebooks quantise what is left: content first, then prosody.
    3. A voice is added, and a decoder speaks; over a tenth of a second its power becomes that of
       the input.

    Args:
        strength: 1 for the other voice alone, 0 for the speaker's own; between, a linear blend.
        codebooks: that frames are decoded from, the first ones; 0 for all. Few hide more, of the
            voice first, and lose more. The paper uses all.
        voice: ``turned``, the speaker's vector turned by the key, so that voices stay distinct; or
            ``empty``, the paper's: nobody's voice, one for all, which no key changes.
        identity: another method than these, as of :func:`voicenym.identity.spec.parsed`.
        weights: folder of ``voicenym train musa``; ``musa`` in
            :func:`voicenym.nets.weights_home.home` unless given.
    """

    strength: float = 1.0
    codebooks: int = 0
    voice: Literal["turned", "empty"] = "turned"
    identity: str = ""
    weights: str = ""

    card: ClassVar[Card] = Card(
        name="musa",
        title="A codec takes the speaker away, then quantises content and prosody in turn",
        paper="Yao et al., 'MUSA: multi-lingual speaker anonymization via serial disentanglement', "
        "2024",
        year=2024,
        equations=(
            "r = x - s: frames less the speaker's vector (3)",
            "q = q_1 + ... + q_8 of a residual quantiser; q_1 learns content from a teacher (4)",
            "waveform = decoder(q + v), v = (1 - strength) s + strength v'; v' = 0, or s turned "
            "about the speakers' mean by an orthogonal matrix that the pseudonym draws",
        ),
        needs="weights that do not come along (voicenym train musa); 16 kHz, CPU or GPU; hears a "
        "file first, adapts when live with a causal codec",
        protects="no verifier that was tried, with all codebooks (docs/codec.md); ignorant ones in "
        "part, with two of them",
        promises=(
            "length, channels, rhythm and the level over a tenth of a second are kept; silence is "
            "silent",
            "no sample of the original reaches the output, only 8 numbers of 10 bits every 20 ms",
            "the same in any language: nothing is transcribed",
        ),
        fails=(
            "the codes after the first keep prosody and whatever the first leaves: of all eight, a "
            "verifier that trains nothing finds most speakers (12.8 % equal error rate), with "
            "weights of an hour of one core",
            "with voice=empty all speakers have one voice, whatever the key",
            "below a strength of 1, what is left of the speaker's vector is left to every attacker",
            "live, the first second is anonymized with an ordinary speaker's vector",
            "music and overlapping talkers are coded as if they were one voice",
        ),
        approximations=(
            "the turned voice is ours; the paper's is voice=empty",
            "recordings are heard in windows of 30 s, of which the middle 26 s are kept",
            "the level over a tenth of a second is made that of the input, which the paper does "
            "not do",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.strength <= 1.0:
            raise UnknownSystemError(
                "musa: strength is 0 (the speaker's own voice) to 1 (all of the other one), not "
                f"{self.strength}"
            )
        if self.codebooks < 0:
            raise UnknownSystemError(
                f"musa: codebooks is 1 to as many as the weights have, or 0 for all, not "
                f"{self.codebooks}"
            )
        if self.voice not in ("turned", "empty"):
            raise UnknownSystemError(f"musa: voice is turned or empty, not {self.voice!r}")
        if self.identity:
            # a fault in the text is told at once
            compatibility.fit(parsed(self.identity), self.card.name)

    @property
    def folder(self) -> Path:
        """Of the weights."""
        return Path(self.weights) if self.weights else home() / "musa"

    @property
    def version(self) -> str:
        method = parsed(self.identity) if self.identity else None
        return together(version(self.folder), compatibility.version(method))

    def check(self) -> None:
        codec = self._codec()
        if self.identity:
            compatibility.tried(parsed(self.identity), codec.voices.mean.cpu())

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_optional(self) -> bool:
        # weights that are missing are missed where they are used
        there = (self.folder / CONFIG).is_file()
        return not there or self._codec().sizes.causal

    def working_rate(self, rate: int) -> int:
        return RATE

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return _Reader(self._codec(), rows, lengths)

    def core_for(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        codec = self._codec()
        method = self._method(codec)
        if profile is None:
            return LiveCodedCore(codec, pseudonyms, method, self.strength, rate, self.device)
        own = profile.own
        voice = voices(own.cpu(), pseudonyms, method, self.strength)
        return CodedCore(
            codec, own.to(self.device), voice.to(self.device), profile.lengths, rate, self.device
        )

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        return self.core_for(pseudonyms, rate, profile)

    def _codec(self) -> Codec:
        folder = self.folder
        try:
            stamp = os.stat(folder / CONFIG).st_mtime_ns
        except OSError:
            raise WeightsError(f"musa: no weights in {folder}; train some: {HOW}") from None
        return _loaded(folder, self.device, stamp, self.codebooks)

    def _method(self, codec: Codec) -> Identity | None:
        if self.identity:
            return parsed(self.identity)
        return rotation(codec) if self.voice == "turned" else None


class _Reader:
    """First pass over a recording."""

    def __init__(self, codec: Codec, rows: int, lengths: Sequence[int] | None) -> None:
        self._vectors = VectorReader(CodecSpeakers(codec), rows, lengths)
        self._lengths = None if lengths is None else tuple(lengths)

    def push(self, block: torch.Tensor) -> None:
        """``[row, time]``."""
        self._vectors.push(block)

    def result(self) -> Profile:
        """Of all that was pushed."""
        return Profile(self._vectors.result(), self._lengths)


@functools.lru_cache(maxsize=2)
def _loaded(folder: Path, device: str, stamp: int, codebooks: int) -> Codec:
    codec = Codec.load(folder)[0].to(device).requires_grad_(False)
    return codec.shortened(codebooks) if codebooks else codec
