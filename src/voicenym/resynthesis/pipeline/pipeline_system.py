"""Base of pipeline systems: content, F0 and speaker vector, resynthesised in another voice."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Core, Profiler, Refusal
from voicenym.anonymizer.profile_origin import check_type
from voicenym.errors import UnknownSystemError
from voicenym.identity import Identity, compatibility
from voicenym.identity.copy import Half, for_parts
from voicenym.identity.own_parts import methods_of, unplaced
from voicenym.nets.checkpoint import stamp, together
from voicenym.nets.speakers.speaker_encoder import RATE
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.weights.weights_home import home
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.pipeline import assembly, measured_frequencies
from voicenym.resynthesis.pipeline.f0_regression import Register
from voicenym.resynthesis.pipeline.language_check import refusal, refusal_of_stated
from voicenym.resynthesis.pipeline.pipeline_core import ChangedLengthCore, PipelineCore, Voice
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.pipeline_voices import TargetVoices
from voicenym.resynthesis.pipeline.profile_reader import Profile, ProfileReader
from voicenym.resynthesis.pipeline.prosody_settings import ContentKind, Prosody
from voicenym.resynthesis.pipeline.synthesis_settings import names

CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""Codes of languages, such as ``en`` or ``pt-BR``."""


@dataclass(frozen=True)
class Pipeline(Anonymizer):
    """Resynthesis by published networks: content, F0, speaker vector, synthesizer.

    1. Content: frames of a content encoder, in overlapping windows.
    2. Pitch: F0 of a tracker, kept or transformed to the target voice.
    3. Speaker: the mean of the speaker vectors of the recording's segments, which an identity
       method maps to a pseudo-speaker's vector.
    4. Synthesis: a waveform synthesizer; its power over 0.1 s is set to that of the input.

    A first pass over the recording computes its profile. A profile of several recordings of one
    speaker, pushed one after the other, gives a speaker-level vector instead of an utterance-level
    one.

    Args:
        weights: folder written by ``voicenym models assemble``; default: that of
            :attr:`folder_name` in :func:`voicenym.nets.weights.weights_home.home`, else a bundled
            one.
        identity: identity method instead of the system's own, see
            :func:`voicenym.identity.identity`; it takes pool, mixture and rotations of the weights
            where it names none: ``selection``, ``half:of=(selection)``.
        f0: ``kept``, as published; or changes, ``+`` between them: ``moved`` to the mean and
            deviation of ln F0 predicted from the target vector, or ``predicted`` from the content
            and drawn by the key, with that mean and deviation; ``shaped``, after ``predicted``,
            adds how each phrase of the input ends and which third has its peak
            (:mod:`voicenym.dsp.pitch.phrase_intonation`); ``quantised``, ``noisy``. For
            vectors of frequencies, ``moved`` scales F0 by the same factor as the F0 in the vector.
        noise: of ``noisy``, in deviations of ln F0.
        level: ``kept``: the power over 0.1 s is that of the input; ``drawn``: syllables have the
            level of the synthesizer in the drawn voice, and only that over 3 s follows the input
            (:mod:`voicenym.resynthesis.common.slow_level`); ``fixed``: speech has one level, and
            pauses are silent (:mod:`voicenym.resynthesis.common.fixed_level`).
        timing: ``kept``, or ``loose``: speaking rate and local tempo are drawn, and phrases begin
            within 0.1 s of where they did (:mod:`voicenym.resynthesis.common.loose_timing`); or
            ``drawn``: durations of sounds are predicted, rates and pauses drawn, and the length
            changes (:mod:`voicenym.resynthesis.common.drawn_timing`). Neither goes with
            ``level=kept``.
        language: of the speech, a code such as ``en``; empty: recordings that are likely not of the
            language of the weights are refused (:meth:`refusal`). A stated language is believed.

    Attributes:
        folder_name: name of the weights folder, shared by systems of the same networks.
        coarse_silence_from: revision from which the content encoder computes the silence that fills
            its windows in groups (:mod:`voicenym.nets.words.whisper.silent_groups`); 0 for none.
    """

    weights: str = ""
    identity: str = ""
    f0: str = "kept"
    noise: float = 0.1
    level: str = "kept"
    timing: str = "kept"
    language: str = ""

    profile_type: ClassVar[type] = Profile
    streams: ClassVar[bool] = False
    folder_name: ClassVar[str]
    coarse_silence_from: ClassVar[int] = 0

    def __post_init__(self) -> None:
        try:
            self.prosody  # noqa: B018  a malformed setting fails at construction
        except ValueError as error:
            raise UnknownSystemError(f"{self.card.name}: {error}") from None
        if self.identity:
            unplaced(self.identity)  # a malformed specification fails at construction
        if self.language and not CODE.fullmatch(self.language):
            raise UnknownSystemError(
                f"{self.card.name}: language={self.language[:40]} is no code of a language; give "
                "one such as en, de or pt-BR"
            )

    def own(self, folder: Path) -> Identity:
        """The published identity method, with its files from the weights folder."""
        raise NotImplementedError

    def _named(self) -> Identity:
        """The method of :attr:`identity`, with the weights' own pool where it names none."""
        folder = self.folder
        return methods_of(lambda name: str(assembly.choice(folder, name))).load(self.identity)

    @property
    def draws(self) -> bool:
        return unplaced(self.identity).draws if self.identity else True

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def version(self) -> str:
        method = self._named() if self.identity else None
        durations = ""
        if self.prosody.changes_length:
            durations = stamp(assembly.located(self.folder, "durations"))
        voices = ""
        if self.folder.is_dir() and self._maps_frequencies:
            voices = stamp(measured_frequencies.BUNDLED)
        return together(
            assembly.version(self.folder), compatibility.version(method), durations, voices
        )

    @property
    def folder(self) -> Path:
        """Folder of the weights: the named one, else the user's own, else a bundled one."""
        if self.weights:
            return Path(self.weights)
        own, bundled = self._own, assembly.BUNDLED / self.folder_name
        return own if own.exists() or not bundled.is_dir() else bundled

    @property
    def own_weights(self) -> str:
        return str(self.folder) if not self.weights and self.folder == self._own else ""

    @property
    def _own(self) -> Path:
        return home() / self.folder_name

    def check(self) -> None:
        """Loads all modules.

        Raises:
            WeightsError, VoicenymError: as of
                :func:`voicenym.resynthesis.pipeline.assembly.opened`; a method that is not for
                these parts, or lacks what it needs.
        """
        parts = self.parts
        click = torch.zeros(RATE, device=self.device)
        click[:: RATE // 100] = 0.1  # a test signal with a speaker vector
        who = parts.speaker.embed([click])[0].cpu()
        compatibility.tried(self.method(), who, names(assembly.part(self.folder, "speaker")))
        if self.prosody.targeted and not parts.speaker.hertz:
            self.register()
        if self.prosody.predicted:
            assembly.part(self.folder, "f0")
        if self.prosody.changes_length:
            assembly.part(self.folder, "durations")

    @property
    def prosody(self) -> Prosody:
        """Treatment of F0, level, timing and content, in the last revision unless one is given."""
        return self.prosody_of(self.revision or self.revisions[-1])

    def prosody_of(self, revision: int) -> Prosody:
        """Treatment of F0, level, timing and content in a revision. It needs nothing in a first
        pass that that of another revision does not, but for :attr:`content_kinds`.
        """
        found = Prosody.of(self.f0, self.noise, self.level, self.timing)
        return self.with_silence_of(revision, found)

    def with_silence_of(self, revision: int, prosody: Prosody) -> Prosody:
        """A treatment with the silence of a revision."""
        first = self.coarse_silence_from
        return replace(prosody, coarse_silence=bool(first) and revision >= first)

    def prosody_for(self, pseudonym: Pseudonym) -> Prosody:
        """:meth:`prosody_of` the revision of a pseudonym."""
        return self.prosody_of(self.revision_for(pseudonym))

    @property
    def content_kinds(self) -> tuple[ContentKind, ...]:
        """Kinds of the content that pseudonyms may need: of the revision that is given, else of
        all.
        """
        revisions = (self.revision,) if self.revision else self.revisions
        return tuple(dict.fromkeys(self.prosody_of(one).content_kind for one in revisions))

    @property
    def accents(self) -> tuple[str, ...]:
        """Accents of the content that pseudonyms of any revision may need, see
        :class:`~voicenym.resynthesis.pipeline.prosody_settings.Prosody`.
        """
        return (self.prosody.accent,)

    def in_sync(self) -> Pipeline:
        return replace(self, timing="kept") if self.prosody.moves_time else self

    @property
    def parts(self) -> Assembly:
        """The networks, on the device, but for synthesizers of later revisions."""
        return self.conditioned(assembly.opened(self.folder, self.device))

    def conditioned(self, parts: Assembly) -> Assembly:
        """The networks with the speaker encoder that the identity method needs: where it scales
        frequencies, and the weights know vectors, that of frequencies, and a map to vectors.
        """
        if not self._maps_frequencies:
            return parts
        return measured_frequencies.on_frequencies(parts, self.device)

    @property
    def _maps_frequencies(self) -> bool:
        """Whether frequencies stand for the vectors of the weights' speaker encoder."""
        if not self.identity:
            return False
        methods = compatibility.within(unplaced(self.identity))
        return any(one.hertz for one in methods) and measured_frequencies.fits(
            names(assembly.part(self.folder, "speaker"))
        )

    def synthesizer_of(self, revision: int) -> Synthesizer:
        """The synthesizer of a revision, on the device; the other networks are those of all."""
        return self.parts.synthesizer

    def method(self) -> Identity:
        """Identity method that chooses the voice.

        Raises:
            UnknownSystemError: a method that is not for these parts.
            WeightsError, VoicenymError: as of
                :func:`voicenym.resynthesis.pipeline.assembly.opened`.
        """
        parts = self.parts
        found = self._named() if self.identity else self.own(self.folder)
        compatibility.fit(
            found,
            self.card.name,
            parts.synthesizer.parts,
            hertz=parts.speaker.hertz,
            direction=parts.settings.scale in ("unit", "root"),
        )
        return found

    def working_rate(self, rate: int) -> int:
        return RATE

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        parts = self.parts
        copies = not self.prosody.predicted or parts.speaker.hertz
        if self.prosody.changes_length:
            assembly.part(self.folder, "durations")
        return ProfileReader(
            parts,
            rows,
            lengths,
            self.device,
            vectors=self.method().source_dependent or parts.speaker.hertz,  # of these F0 is needed
            pitch=(bool(self.prosody.changes) and copies) or self.prosody.shaped,
            language=parts.language is not None and not self.language,
            tempo=self.prosody.needs_phrases,
            durations=self.content_kinds if self.prosody.changes_length else (),
            coarse_silence=self.prosody.coarse_silence,
            soft=self.prosody.content_kind.soft,
            intonation=self.prosody.shaped,
        )

    @property
    def may_refuse(self) -> bool:
        parts = self.parts
        return parts.language is not None or bool(self.language and parts.content.language)

    def refusal(self, profile: Any) -> Refusal | None:
        """Reason where the speech is likely of another language than the weights.

        Raises:
            AudioError: what is given as a profile is none.
        """
        parts = self.parts
        scores = parts.language
        own = parts.content.language if scores is None else scores.language
        if self.language and own:
            return refusal_of_stated(own, self.language)
        if scores is None:
            return None
        check_type(profile, self.profile_type, self.card.name)
        return refusal(scores, profile.language)

    def median_f0(self, pseudonym: Pseudonym) -> float | None:
        parts, method = self.parts, self.method()
        if method.source_dependent or parts.speaker.hertz or not self.prosody.targeted:
            return None
        vectors = torch.stack(for_parts(method, torch.ones(1, parts.speaker.size), [pseudonym]))
        put_in = parts.synthesizer.parts.index(method.part) if isinstance(method, Half) else 0
        return float(self.register()(vectors[put_in])[0].exp()[0])

    def core_for(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        parts = self.parts
        if self.prosody.predicted:
            assembly.part(self.folder, "f0")
        voice = self.voice(pseudonyms, profile)
        known = bool(self.language)
        made = ChangedLengthCore if self.prosody.changes_length else PipelineCore
        prosodies = [self.prosody_for(pseudonym) for pseudonym in pseudonyms]
        synthesizers = [self.synthesizer_of(self.revision_for(one)) for one in pseudonyms]
        return made(parts, voice, profile, prosodies, rate, self.device, known, synthesizers)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        return self.core_for(pseudonyms, rate, profile)

    def voice(self, pseudonyms: Sequence[Pseudonym], profile: Profile) -> Voice:
        """Target voices of pseudonyms, one a row, for the profile of the rows' speakers."""
        targets = TargetVoices(
            self.parts,
            self.prosody,
            self.accents,
            lambda revision: replace(self, revision=revision).method(),
            self.revision_for,
            self.register,
            self.device,
        )
        return targets(self.method(), pseudonyms, profile)

    def register(self) -> Register:
        """The regression of pitch on speaker vectors.

        Raises:
            WeightsError: the weights have none.
        """
        place = assembly.part(self.folder, "register")
        return _register(place, assembly.version(self.folder))


@functools.lru_cache(maxsize=2)
def _register(place: Path, version: str) -> Register:
    return Register.load(place)
