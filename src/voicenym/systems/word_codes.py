"""Resynthesis of word codes: the key draws voice, accent, F0 and tempo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from voicenym.anonymizer import Card, Core
from voicenym.anonymizer.live_delay import SHORT, USUAL
from voicenym.errors import UnknownSystemError
from voicenym.identity import Identity
from voicenym.identity.mixture import Mixture
from voicenym.identity.own_parts import unplaced
from voicenym.identity.pools.sex_rule import Rule
from voicenym.nets.checkpoint import stamp, together
from voicenym.nets.matrix_precision import SINGLE, unfit
from voicenym.nets.synthesis.synthesizer import Synthesizer
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.pipeline import assembly, later_modules
from voicenym.resynthesis.pipeline.live_content import LiveSteps
from voicenym.resynthesis.pipeline.live_core import LiveCore
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.pipeline_system import Pipeline
from voicenym.resynthesis.pipeline.profile_reader import nobody
from voicenym.resynthesis.pipeline.prosody_settings import NATIVE, Prosody
from voicenym.resynthesis.pipeline.units_setting import CODES, SOFT, check_content, check_name

DELAYS: Mapping[str, LiveSteps | None] = {USUAL: None, SHORT: LiveSteps(2, 2)}
"""Steps of live streams by the delay that is asked for; None for those of the live encoder."""


@dataclass(frozen=True)
class WordCodes(Pipeline):
    """Word codes of 215 bits a second and a vocoder; the key draws voice, accent, F0 and tempo.

    1. Content: word codes, 25 a second from one codebook of 512, learned to keep what a recogniser
       needs for the words. They are those of a native reading of the same words, predicted from
       the recogniser's states, with an accent that the key draws; in revision 3 without one; up
       to revision 2, they are those of the recording.
    2. F0 and voicing: predicted from the codes, drawn by the key around the prediction.
    3. Level: the synthesizer's own, from the codes; speech is -26 dB of full scale over 3 s, and
       pauses are silent. Up to revision 1, the level over 3 s is that of the input.
    4. Timing: speaking rate and local tempo are drawn; phrases begin within 0.1 s of where they
       did, and pauses take up the difference. ``timing=drawn`` predicts the durations of sounds,
       draws those of pauses, and changes the length.
    5. Voice: a speaker vector drawn by the pseudonym from a mixture, of any sex. It depends on
       nothing of the speaker.

    ``f0=kept``, ``level=kept``, ``timing=kept`` and ``accent=kept`` keep the speaker's own instead,
    for measurements.

    Args:
        level: ``fixed``, ``drawn`` or ``kept``; default: ``fixed``, in revision 1 ``drawn``.
        accent: ``drawn``, ``native`` or ``kept``; default: the first that the weights can; in
            revision 3 ``native``, up to revision 2 ``kept``.
        sex: ``same``, ``opposite`` or ``any``, of the drawn voice.
        precision: of the encoder's matrix products: ``single``, or ``bfloat16`` where the
            processor has it, in which one code in a hundred differs.
        delay: of live streams: ``usual``, or ``short``, which is 0.16 s shorter and loses more
            words, from revision 8 on.
        units: ``codes`` or ``soft``, means of the codes' vectors weighted by how near each is
            (:mod:`voicenym.nets.content.soft_units`); default: ``codes``, and from revision 9 on
            ``soft`` in live streams whose accent is drawn.

    Attributes:
        live_encoder_from: revision from which live streams of the bundled weights have the live
            encoder (:mod:`voicenym.nets.words.word_codes.live_word_codes`); those of weights of
            one's own have it where it is there.
        of_recordings_alone: revision that changed recordings, and not live streams.
        short_delay_from: revision from which the bundled live encoder knows short delays.
        soft_streams_from: revision from which live streams are of soft units, if the setting names
            none.
    """

    f0: str = "predicted"
    level: str = ""
    timing: str = "loose"
    accent: str = ""
    sex: Rule = "any"
    precision: str = SINGLE
    delay: str = USUAL
    units: str = ""

    streams: ClassVar[bool] = True
    running_averages: ClassVar[bool] = True
    revisions: ClassVar[tuple[int, ...]] = (1, 2, 3, 4, 5, 6, 7, 8, 9)
    unnamed_values: ClassVar[Mapping[str, Any]] = {
        "precision": SINGLE,
        "delay": USUAL,
        "accent": "",
        "units": "",
    }
    coarse_silence_from: ClassVar[int] = 5
    live_encoder_from: ClassVar[int] = 6
    of_recordings_alone: ClassVar[int] = 7
    short_delay_from: ClassVar[int] = 8
    soft_streams_from: ClassVar[int] = 9
    last_live_revision: ClassVar[int] = 9
    folder_name: ClassVar[str] = "ssl"
    card: ClassVar[Card] = Card(
        name="word-codes",
        title="word codes and a vocoder (English); voice, accent, F0, tempo drawn; level fixed",
        paper="the project's own; codes of a recogniser's states after van den Oord et al., "
        "'Neural discrete representation learning', NeurIPS 2017; pseudo-speakers of Turner et "
        "al., 'Generating identities with mixture models for speaker anonymization', Computer "
        "Speech & Language 2022",
        year=2026,
        equations=(
            "content = the nearest of 512 learned vectors to a projection of the states of "
            "Whisper's encoder, 25 a second: 225 bits a second at most; the projection is trained "
            "towards the codes of a native reading of the same words; up to revision 2 it is the "
            "content encoder's own, with 215 bits a second measured",
            "c' = m + g (c - m) + D z before the codebook, from revision 4 on: D 32 directions in "
            "which speakers differ, z and ln g normal numbers that the pseudonym draws; silence "
            "stays as it is",
            "with units=soft, and in live streams from revision 9 on, content = sum_d p(d | c') "
            "e_d over the vectors e_d, p proportional to exp(-|c' - e_d|^2 / T), T 0.15 of the "
            "mean |e|^2; no number of bits bounds it",
            "ln F0 = m + s (mu(content) + sigma(content) e), e a smooth random function that the "
            "key draws, m and s those of the drawn voice; voiced where p(content) > 1/2",
            "x' = m + P z, z drawn by the pseudonym from a mixture of Gaussians over the principal "
            "components of speaker vectors",
            "y(t) = vocoder(content, F0, x')(p(t + d(t))), |d| at most 0.1 s; d and the rates of "
            "phrases in p are drawn by the key",
            "between pauses the power over 3 s is -26 dB of full scale; pauses are silent; in "
            "revision 1 the power over 3 s is that of the input",
        ),
        needs="bundled weights, of English; 16 kHz; CPU or GPU; two passes over a file, one "
        "live; content/, speaker/, synthesizer/, mixture/, register/, f0/, drawn/, live/",
        protects="ignorant and lazy-informed verifiers; in part attackers who train on its output "
        "(EER 25.1 % against one who reads the content of the output again; 29.8 % with "
        "timing=drawn)",
        promises=(
            "length and channels are kept; phrases begin within 0.1 s of where they did, and "
            "silence stays silent",
            "no sample, phase, spectrum, F0 or level of the original reaches the output, only word "
            "codes, or means of their vectors, and where its phrases are; in revision 1 also the "
            "level over 3 s and a ceiling in pauses",
            "voice and change of accent depend on the pseudonym alone",
            "the output does not depend on the block size; memory is bounded",
        ),
        fails=(
            "wording, and in part accent, speaking rate and pauses are kept: who trains on its "
            "output and has three recordings of a speaker on either side has an EER of 17.8 %, and "
            "finds one of 47 speakers in 51 % of the trials",
            "words that were said in another way than in a native reading may become other words",
            "how many words are lost depends on the drawn voice: with three keys, WER by Whisper "
            "tiny.en, which trained the vocoder, is 1.17 to 1.26 times the originals'",
            "all speech is equally loud, near the microphone and far from it",
            "emotion, stress and intonation of the speaker are lost: F0 and level are those that "
            "fit the words",
            "the weights are of English: recordings of other languages are refused where they are "
            "detected in the first minute of speech; others become English sounds, and so do later "
            "passages, of which a warning tells from 20 s of speech on, and of shorter ones none",
            "words of children are often lost already in the codes",
            "live, it is 0.4 s late (0.2 s with delay=short) and timing is kept, which attackers "
            "use (EER 20.9 % of files, 21.4 % of streams up to revision 8); with delay=short more "
            "words are lost: WER by Whisper tiny.en is 1.48 times the originals' (else 1.12)",
            "music between speech, overlapping talkers and whispering are spoken as if they were "
            "one voice",
        ),
        approximations=(
            "long recordings are processed in windows of 30 s, of which the middle 24 s are kept",
            "the silence that fills a window is computed in groups of eight states: four codes in "
            "a hundred differ; up to revision 4, one by one",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if reason := unfit(self.precision, self.device):
            raise UnknownSystemError(f"{self.card.name}: {reason}")
        if self.delay not in DELAYS:
            raise UnknownSystemError(
                f"{self.card.name}: no delay {self.delay!r}; choose from {', '.join(DELAYS)}"
            )
        if self.delay != USUAL and self.accent not in ("", "drawn"):
            raise self._no_such_delay()
        check_name(self.card.name, self.units or CODES)

    @property
    def parts(self) -> Assembly:
        found = assembly.opened(self.folder, self.device, self.precision, self.accents)
        return self.conditioned(found)

    def synthesizer_of(self, revision: int) -> Synthesizer:
        name = assembly.of_revision(self.folder, "synthesizer", revision)
        if name == "synthesizer":
            return self.parts.synthesizer
        return later_modules.synthesizer(self.folder, self.device, name)

    def prosody_of(self, revision: int) -> Prosody:
        level = self.level or ("fixed" if revision >= 2 else "drawn")
        accent = self.accent or self._accent_of(revision)
        found = Prosody.of(self.f0, self.noise, level, self.timing, accent)
        if self.units == SOFT and accent == "native":
            raise UnknownSystemError(
                f"{self.card.name}: units=soft needs accent=drawn or accent=kept; native readings "
                "without an accent are codes"
            )
        return self.with_silence_of(revision, replace(found, soft=self.units == SOFT))

    def _accent_of(self, revision: int) -> str:
        """Accent of a revision, if the setting names none."""
        if revision >= 4:
            return self._possible_accents[-1]
        return "native" if revision == 3 and "native" in self._possible_accents else "kept"

    @property
    def _possible_accents(self) -> tuple[str, ...]:
        """Those that the weights can, the latest at the end."""
        there = (name for name in NATIVE if assembly.located(self.folder, name).is_dir())
        return ("kept", *there)

    @property
    def profile_optional(self) -> bool:
        """Whether it works live, which it does where nothing but the codes comes from the
        recording. Timing is kept then.
        """
        method = unplaced(self.identity) if self.identity else None
        return (
            self.prosody.changes == ("predicted",)
            and self.level in ("", "fixed")
            and self.timing != "drawn"
            and (method is None or not method.source_dependent)
        )

    def core_for(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        if profile is not None:
            return super().core_for(pseudonyms, rate, profile)
        # what a recording of a stated other language meets before its first pass
        if self.language and (refused := self.refusal(None)):
            raise UnknownSystemError(f"{self.card.name}: {refused.reason}; {refused.cure}")
        revision, *others = {self.revision_for(pseudonym) for pseudonym in pseudonyms}
        if others:
            raise UnknownSystemError(
                f"{self.card.name}: pseudonyms of one live stream need one revision"
            )
        if revision == self.of_recordings_alone:
            revision -= 1
        accent = self.prosody_of(revision).accent
        parts = replace(
            self.parts,
            synthesizer=self.synthesizer_of(revision),
            live_codes=self._live_codes_of(revision),
        )
        steps = DELAYS[self.delay]
        if steps is not None and (
            accent != "drawn"
            or parts.live_codes is None
            or (self._is_bundled and revision < self.short_delay_from)
        ):
            raise self._no_such_delay()
        voice = self.voice(pseudonyms, nobody(len(pseudonyms), parts))
        known = bool(self.language)
        usual = SOFT if revision >= self.soft_streams_from and accent == "drawn" else CODES
        soft = (self.units or usual) == SOFT
        return LiveCore(parts, voice, accent, self.device, known, steps, soft)

    def _no_such_delay(self) -> UnknownSystemError:
        """The error of a delay that the accent, the weights or the revision do not allow."""
        return UnknownSystemError(
            f"{self.card.name}: delay={self.delay} needs a live encoder, drawn accents and "
            f"revision {self.short_delay_from}; take a new key and accent=drawn, or delay={USUAL}"
        )

    def _live_codes_of(self, revision: int) -> LiveWordCodes | None:
        """The live encoder of a revision, if it has one."""
        if self._is_bundled and revision < self.live_encoder_from:
            return None
        name = assembly.of_revision(self.folder, "live", revision)
        if name == "live" or self.parts.live_codes is None:  # whose accents are not drawn
            return self.parts.live_codes
        return later_modules.live_encoder(self.folder, self.device, name)

    @property
    def accents(self) -> tuple[str, ...]:
        return (self.accent,) if self.accent else self._possible_accents

    @property
    def _is_bundled(self) -> bool:
        return self.folder.parent == assembly.BUNDLED

    @property
    def version(self) -> str:
        # bundled native codes are part of the revision
        used = [name for name in self.accents if name in NATIVE]
        if self._is_bundled or not used:
            return super().version
        stamps = [stamp(assembly.located(self.folder, name)) for name in used]
        return together(super().version, *stamps)

    def check(self) -> None:
        super().check()
        self.synthesizer_of(self.revision or self.revisions[-1])
        check_content(self.card.name, self.units, self.parts.content, self.folder)
        if self.prosody.accent in NATIVE:
            assembly.part(self.folder, self.prosody.accent)

    def own(self, folder: Path) -> Identity:
        return Mixture(str(assembly.part(folder, "mixture")), sex=self.sex)
