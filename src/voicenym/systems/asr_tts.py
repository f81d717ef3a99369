"""Recogniser and synthesiser: what is said is written down and spoken by a drawn voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.anonymizer.text_edit import TextEdit
from voicenym.errors import UnknownSystemError, VoicenymError, WeightsError
from voicenym.nets import hub
from voicenym.nets.catalogue import CATALOGUE
from voicenym.nets.checkpoint import stamp, together
from voicenym.nets.names_and_paths import is_hub_name
from voicenym.nets.speech_synthesis import voice_files
from voicenym.nets.speech_synthesis.synthesiser import Synthesiser
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.pipeline.language_check import same_language
from voicenym.resynthesis.retelling import drawn_speaker, whisper_listener
from voicenym.resynthesis.retelling.phrases_heard import Listener
from voicenym.resynthesis.retelling.retelling_core import (
    FIXED,
    FREE,
    KEEP,
    KEPT,
    LEVELS,
    TIMINGS,
    FreeRetellingCore,
    RetellingCore,
    Speech,
)
from voicenym.resynthesis.retelling.retelling_profile import RATE, RetellingProfile, RetellingReader

KOKORO_FILES = ("onnx/model_quantized.onnx", "voices/*.bin", "tokenizer.json")
"""Files of a repository of Kokoro on the hub."""
KINDS = {"recogniser": ("whisper",), "synthesiser": ("kokoro", "piper")}
"""Kinds of catalogue entries that a part may be, best first."""
FIRST = {"recogniser": "whisper-base.en", "synthesiser": "kokoro-82m"}


@dataclass(frozen=True)
class AsrTts(Anonymizer):
    """Writes down what is said, and has a synthesiser say it in a voice that the pseudonym draws.

    1. Speech is found by a detector of speech activity, and a Whisper writes down its words.
    2. Speech that is not understood, music, other sounds and other languages become silence, which
       a warning reports in seconds.
    3. The pseudonym draws a voice: a mixture of three styles of Kokoro, or a speaker of a voice of
       Piper; changes of F0 and of the vocal tract, wide where the synthesiser has few voices; and a
       speaking rate.
    4. The synthesiser speaks the text, at a fixed level or at the mean level of the recording's
       speech.

    Nothing of the speaker is left but the words, and with ``timing=keep`` and ``loose`` when they
    were said; with ``level=kept``, also how loud on average.

    Args:
        recogniser: a Whisper: a name that ``voicenym models pull`` fetched, a name on the hub, or a
            folder; the largest one that was pulled unless given.
        synthesiser: Kokoro or a voice of Piper: a name that was pulled, a repository of Kokoro on
            the hub, or the file or folder of a voice; what was pulled unless given.
        timing: ``keep``: each phrase between pauses begins where it did; ``loose``: sentences begin
            within 0.15 s of where they did; ``free``: sentences follow each other with drawn
            pauses, and the length changes. Durations and F0 are the synthesiser's.
        confidence: geometric mean of the probabilities of a phrase's words, below which it is
            silenced.
        language: of the speech, such as ``en``; empty for that of the synthesiser, and then speech
            that is likely of another language than English is silenced.
        level: ``kept``: the speech is as loud as the speaker's on average; ``fixed``: it has the
            same level in each sentence and recording, which tells nothing of the microphone, its
            gain and its distance. Unless given, ``fixed``; in revision 1, ``kept`` but with
            ``timing=free``.
    """

    recogniser: str = ""
    synthesiser: str = ""
    timing: str = "loose"
    confidence: float = 0.4
    language: str = ""
    level: str = ""

    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    unbundled: ClassVar[tuple[str, ...]] = ("recogniser", "synthesiser")
    profile_type: ClassVar[type] = RetellingProfile
    streams: ClassVar[bool] = False
    _text_edits: ClassVar[tuple[TextEdit, ...]] = ()
    card: ClassVar[Card] = Card(
        name="asr-tts",
        title="speech to text to speech (English): words alone are kept, spoken by a drawn voice",
        paper="the project's own composition of known parts: Whisper (Radford et al., ICML 2023); "
        "Kokoro, after StyleTTS 2 (Li et al., NeurIPS 2023), or Piper, after VITS (Kim et al., "
        "ICML 2021); such cascades are baseline B3 of the VoicePrivacy Challenge 2024 (Meyer et "
        "al., 'Prosody is not identity', ICASSP 2023)",
        year=2026,
        equations=(
            "words = Whisper(speech), greedily, in windows of at most 28 s cut in pauses",
            "style = sum_i w_i s_i(n), n phonemes, w of Dirichlet(1/2) over three styles of the "
            "bank, drawn by the pseudonym",
            "ln F0' = ln F0 + p, ln formant' = ln formant + 0.28 p + q, p and q drawn by the "
            "pseudonym",
            "level=kept: the energy of a sentence is its share of characters of that of the "
            "speech; level=fixed: its power is -26 dB of full scale",
        ),
        needs="weights, not bundled: a Whisper and a voice of Kokoro or Piper (voicenym models "
        "pull), onnxruntime, espeak-ng; 16 kHz; CPU; two passes over a recording",
        protects="in part: who trains on 300 recordings of its output has an EER of 32.5 % "
        "(content, timing=loose, 46 speakers; with three recordings 26.2 %), of 38.6 % with "
        "timing=free (all channels fused; with three recordings 28.6 %, content from 2,400), of 36 "
        "% or less with timing=keep (17 adults, content not read); with level=kept, the former "
        "default, of 25 to 30 % (room; prosody and timing)",
        promises=(
            "channels are kept, and the length but with timing=free; silence stays silence, but "
            "where the new speech lasts longer than the speaker's",
            "no sample, spectrum, F0, duration or level of the original reaches the output: only "
            "its words and, but for timing=free, the times at which phrases or sentences begin; "
            "with level=kept also its mean level",
            "what is not understood, is no speech or is not of the language is silent, and "
            "reported in seconds by reason",
            "the voice depends on the pseudonym alone",
        ),
        fails=(
            "words that the recogniser mishears are replaced by others, fluently: nobody hears "
            "from the result that it is wrong",
            "wording, topics, fillers and mistakes of grammar are the speaker's; names and places "
            "stay",
            "with timing=keep and loose, pauses are the speaker's; in part with keep also the "
            "speaking rate, because long phrases are spoken faster",
            "every recording has the same level, so that who is far from the microphone is no "
            "longer quiet; with level=kept the mean level tells recordings of one microphone and "
            "distance apart from others",
            "emotion, emphasis, laughter, singing and sounds are lost",
            "several speakers become one voice, and overlapping speech is mostly lost",
            "a synthesiser with few voices gives few pseudo-voices that differ clearly",
            "does not work live",
        ),
        approximations=(
            "windows are cut at the quietest place of their last 14 s, where a word may be lost",
            "measured with Whisper tiny.en and Piper's en_US-joe-medium, one speaker; other "
            "weights hear and speak otherwise",
        ),
    )

    def __post_init__(self) -> None:
        if self.timing not in TIMINGS:
            raise UnknownSystemError(
                f"asr-tts: timing is {', '.join(TIMINGS)}, not {self.timing!r}"
            )
        if self.level not in ("", *LEVELS):
            raise UnknownSystemError(f"asr-tts: level is {' or '.join(LEVELS)}, not {self.level!r}")
        if not 0.0 <= self.confidence < 1.0:
            raise UnknownSystemError(
                f"asr-tts: confidence is 0 to less than 1, not {self.confidence}"
            )

    @property
    def version(self) -> str:
        try:
            heard = Path(_place("recogniser", self.recogniser))
            spoken = Path(_place("synthesiser", self.synthesiser))
        except WeightsError:
            return ""
        return together(stamp(heard), voice_files.version(spoken))

    def check(self) -> None:
        synthesiser = self.opened_synthesiser()
        synthesiser.check()
        self.opened_listener()

    def opened_synthesiser(self) -> Synthesiser:
        """What speaks.

        Raises:
            WeightsError: it is not there; the message names the command that fetches it.
            DependencyError, VoicenymError: a program, a library or a file that it needs is missing
                or damaged, or it speaks another language.
        """
        found = voice_files.opened(Path(_place("synthesiser", self.synthesiser)))
        if self.language and not same_language(self.language, found.language):
            raise VoicenymError(
                f"asr-tts: the voice speaks {found.language} and the speech is {self.language}; "
                "give a voice of Piper in that language (--set synthesiser=./NAME.onnx)"
            )
        return found

    def opened_listener(self) -> Listener:
        """What writes down the words.

        Raises:
            WeightsError, DependencyError, VoicenymError: as :meth:`opened_synthesiser`.
        """
        spoken = self.language or self.opened_synthesiser().language
        stated = bool(self.language) or not same_language(spoken, "en")
        return whisper_listener.opened(
            Path(_place("recogniser", self.recogniser)),
            spoken,
            stated,
            self.confidence,
            self.device,
        )

    @property
    def needs_profile(self) -> bool:
        return True

    def in_sync(self) -> AsrTts:
        if self.timing == KEEP:
            return self
        level = self.level or (FIXED if self.timing == FREE else "")
        found = replace(self, timing=KEEP, level=level)
        return found._with_text_edits(self._text_edits)

    def _level_for(self, pseudonym: Pseudonym) -> str:
        """The level that was given, else that of the revision."""
        if self.level:
            return self.level
        kept = self.revision_for(pseudonym) == 1 and self.timing != FREE
        return KEPT if kept else FIXED

    def working_rate(self, rate: int) -> int:
        return RATE

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return RetellingReader(self.opened_listener(), rows, lengths, *self._text_edits)

    def with_text_edit(self, edit: TextEdit) -> AsrTts:
        return replace(self)._with_text_edits((edit,))

    def _with_text_edits(self, edits: tuple[TextEdit, ...]) -> AsrTts:
        object.__setattr__(self, "_text_edits", edits)  # no parameter: they are of one recording
        return self

    def speaker(self, pseudonym: Pseudonym) -> drawn_speaker.DrawnSpeaker:
        """The voice of a pseudonym, of the sex that is wished for if the synthesiser labels it."""
        synthesiser = self.opened_synthesiser()
        return drawn_speaker.DrawnSpeaker.of(synthesiser, pseudonym, self._sex(synthesiser))

    def fits_wish(self, pseudonym: Pseudonym) -> bool:
        return bool(self._sex(self.opened_synthesiser())) or super().fits_wish(pseudonym)

    def _sex(self, synthesiser: Synthesiser) -> str:
        """Label of the voices that are drawn from; empty for all."""
        wish = {"female": "f", "male": "m"}.get(self.voice_kind, "")
        return wish if wish in synthesiser.sexes else ""

    def median_f0(self, pseudonym: Pseudonym) -> float:
        return drawn_speaker.median_f0(self.opened_synthesiser(), self.speaker(pseudonym))

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        synthesiser = self.opened_synthesiser()
        speeches = [
            Speech(
                synthesiser,
                self.speaker(pseudonym),
                pseudonym,
                self.timing,
                self._level_for(pseudonym),
            )
            for pseudonym in pseudonyms
        ]
        made = FreeRetellingCore if self.timing == FREE else RetellingCore
        return made(profile, speeches)


def synthesiser_version(given: str) -> str:
    """Digest of a synthesiser's graph.

    Raises:
        WeightsError, VoicenymError: as of :meth:`AsrTts.opened_synthesiser`.
    """
    return voice_files.version(Path(_place("synthesiser", given)))


def _place(part: str, given: str) -> str:
    """Folder or file of a part.

    Raises:
        WeightsError: none was named and none was pulled.
        DependencyError, VoicenymError: as of :mod:`voicenym.nets.hub`.
    """
    if given and is_hub_name(given):
        files = KOKORO_FILES if part == "synthesiser" else hub.SAFE_FILES
        return str(hub.snapshot(given, files=files))
    if given:
        place = hub.place_of(given)
        if not Path(place).exists():
            raise WeightsError(f"asr-tts: {given}: no such {part}; {_cure(part)}")
        return place
    here = set(hub.pulled())
    for kind in KINDS[part]:
        found = [p for p in CATALOGUE if p.convert == kind and p.name in here]
        if found:
            return hub.place_of(max(found, key=lambda p: p.megabytes).name)
    raise WeightsError(f"asr-tts: no {part} here; {_cure(part)}")


def _cure(part: str) -> str:
    return (
        f"fetch one once (voicenym models pull {FIRST[part]}), or give a folder (--set "
        f"{part}=./FOLDER)"
    )
