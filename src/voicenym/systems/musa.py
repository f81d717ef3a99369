"""MUSA: a codec that removes the speaker before quantisation and decodes in another voice."""

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
from voicenym.identity import METHODS, Identity, compatibility
from voicenym.nets.checkpoint import CONFIG, together, version
from voicenym.nets.codec.codec import RATE, Codec
from voicenym.nets.weights.weights_home import home
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.bundled.analysis import VectorReader
from voicenym.resynthesis.codec.codec_anonymization import rotation, voices
from voicenym.resynthesis.codec.codec_core import BUNDLED, CodecSpeakers, CodedCore, LiveCodedCore

HOW = "voicenym train musa --data CORPUS --units bundled --config musa-quick -o FOLDER"


@dataclass(frozen=True)
class Profile:
    """Speaker vectors and lengths of whole recordings.

    Args:
        own: ``[row, size]``, the speakers' vectors.
        lengths: samples of each row, where rows are padded.
    """

    own: torch.Tensor
    lengths: tuple[int, ...] | None


@dataclass(frozen=True)
class Musa(Anonymizer):
    """Encodes speech without its speaker vector and decodes it with another one.

    1. A speech encoder computes frames of 20 ms; the speaker vector of the whole recording is
       subtracted from them.
    2. A residual quantiser with eight codebooks quantises the difference: content first, then
       prosody.
    3. The target voice is added, and a decoder synthesises; its power over 0.1 s is set to that of
       the input. Live, from revision 2 on, this is 0.07 s, most of it past.

    Args:
        strength: weight of the target voice in a linear blend with the speaker's own: 1 for the
            target alone. Above 0, which would be the speaker's own voice: ``identity=copy`` names
            that.
        codebooks: number of first codebooks that frames are decoded from; 0 for all, as in the
            paper. Fewer codebooks remove more speaker information and more content.
        voice: ``turned``, the speaker's vector under a rotation drawn by the pseudonym, which keeps
            voices distinct; or ``empty``, the paper's zero vector: one voice for all speakers,
            independent of the key.
        identity: another identity method, see :func:`voicenym.identity.identity`.
        weights: folder written by ``voicenym train musa``; default: ``musa`` in
            :func:`voicenym.nets.weights.weights_home.home`.
    """

    strength: float = 1.0
    codebooks: int = 0
    voice: Literal["turned", "empty"] = "turned"
    identity: str = ""
    weights: str = ""

    profile_type: ClassVar[type] = Profile
    running_averages: ClassVar[bool] = True
    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    card: ClassVar[Card] = Card(
        name="musa",
        title="Codec that removes the speaker, then quantises content and prosody in turn",
        paper="Yao et al., 'MUSA: multi-lingual speaker anonymization via serial disentanglement', "
        "2024",
        year=2024,
        equations=(
            "r = x - s: frames less the speaker's vector (3)",
            "q = q_1 + ... + q_8 of a residual quantiser; q_1 learns content from a teacher (4)",
            "waveform = decoder(q + v), v = (1 - strength) s + strength v'; v' = 0, or s turned "
            "about the speakers' mean by an orthogonal matrix that the pseudonym draws",
        ),
        needs="bundled weights, of English (voicenym train musa for others); 16 kHz, CPU or GPU; "
        "two passes over a file, live with a causal codec",
        protects="ignorant verifiers in part; an attacker who trains on its output has an EER of "
        "2 % (channels and key searches fused, 47 speakers, bundled weights), one who knows it "
        "and does not train of 15 %, of 5 % with a key search",
        promises=(
            "length, channels, rhythm and the level over 0.1 s are kept; silence stays silent",
            "no sample of the original reaches the output, only codes every 20 ms, the level over "
            "0.1 s, and, with voice=turned, the speaker's vector under a rotation; the codes are 8 "
            "of 10 bits at the paper's size (4,000 bits a second), 8 of 9 bits in musa-small, 4 of "
            "9 bits in the bundled weights",
            "nothing is transcribed, and no language is assumed",
        ),
        fails=(
            "the codebooks after the first keep prosody and the residue of the first: with all "
            "eight, a lazy-informed attacker without training on the output re-identifies most "
            "speakers (12.0 % equal error rate; weights trained for an hour on one core)",
            "the bundled weights learned English alone; in other languages a handful of synthetic "
            "voices was measured, and in Arabic commands: there an attacker who knows the system "
            "and does not train has an EER of 15 to 44 %",
            "with voice=empty all speakers get the same voice, whatever the key",
            "below a strength of 1, the rest of the speaker's vector is available to every "
            "attacker",
            "live, the first second is anonymized with the mean speaker vector of the training "
            "data",
            "music and overlapping talkers are coded as if they were one voice",
        ),
        approximations=(
            "the bundled weights: an encoder and a decoder on spectra, four codebooks instead of "
            "eight, trained for an hour of one core on 4 hours of English, word codes of Whisper "
            "tiny.en as teacher where the paper has a tokenizer over XLS-R, and its states of "
            "original and decoded speech made to agree, which the paper does not",
            "the turned voice is ours; the paper's is voice=empty",
            "recordings are processed in windows of 30 s, of which the middle 26 s are kept",
            "the level over 0.1 s is set to that of the input; the paper does not do this",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.strength <= 1.0:
            raise UnknownSystemError(
                "musa: strength is above 0 (the speaker's own voice) and 1 at most (all of the "
                f"other one), not {self.strength:g}; identity=copy keeps the speaker's voice by "
                "name"
            )
        if self.codebooks < 0:
            raise UnknownSystemError(
                f"musa: codebooks is 1 to as many as the weights have, or 0 for all, not "
                f"{self.codebooks}"
            )
        if self.voice not in ("turned", "empty"):
            raise UnknownSystemError(f"musa: voice is turned or empty, not {self.voice!r}")
        if self.identity:
            # a malformed specification fails at construction
            compatibility.fit(METHODS.load(self.identity), self.card.name)

    @property
    def folder(self) -> Path:
        """Folder of the weights: the named one, else the user's own, else the bundled one."""
        if self.weights:
            return Path(self.weights)
        own = home() / "musa"
        return own if own.exists() or not BUNDLED.is_dir() else BUNDLED

    @property
    def version(self) -> str:
        method = METHODS.load(self.identity) if self.identity else None
        return together(version(self.folder), compatibility.version(method))

    @property
    def own_weights(self) -> str:
        return "" if self.weights or self.folder == BUNDLED else str(self.folder)

    def check(self) -> None:
        codec = self._codec()
        if self.identity:
            compatibility.tried(METHODS.load(self.identity), codec.voices.mean.cpu())

    @property
    def draws(self) -> bool:
        return METHODS.load(self.identity).draws if self.identity else self.voice != "empty"

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_optional(self) -> bool:
        # missing weights raise an error where they are used
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
            revision, *others = {self.revision_for(pseudonym) for pseudonym in pseudonyms}
            if others:
                raise UnknownSystemError("musa: pseudonyms of one live stream need one revision")
            return LiveCodedCore(
                codec, pseudonyms, method, self.strength, rate, self.device, revision
            )
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
            return METHODS.load(self.identity)
        return rotation(codec) if self.voice == "turned" else None


class _Reader:
    """First pass over a recording: speaker vectors."""

    def __init__(self, codec: Codec, rows: int, lengths: Sequence[int] | None) -> None:
        self._vectors = VectorReader(CodecSpeakers(codec), rows, lengths)
        self._lengths = None if lengths is None else tuple(lengths)

    def push(self, block: torch.Tensor) -> None:
        """Adds a block ``[row, time]``."""
        self._vectors.push(block)

    def result(self) -> Profile:
        """Speaker vectors and lengths of everything pushed."""
        return Profile(self._vectors.result(), self._lengths)


@functools.lru_cache(maxsize=2)
def _loaded(folder: Path, device: str, stamp: int, codebooks: int) -> Codec:
    codec = Codec.load(folder)[0].to(device).requires_grad_(False)
    return codec.shortened(codebooks) if codebooks else codec
