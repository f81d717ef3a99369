"""Anonymizer: base class of all systems."""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from voicenym.anonymizer.card import Card
from voicenym.anonymizer.checked_input import checked, checked_channels
from voicenym.anonymizer.core_output import without_exit
from voicenym.anonymizer.devices import check_device
from voicenym.anonymizer.profile_origin import Origin, check_profile
from voicenym.anonymizer.refusal import Refusal
from voicenym.anonymizer.stream import Core, Profiler, Profiling, Stream, working_rate
from voicenym.anonymizer.torch_state import check_torch_state
from voicenym.anonymizer.wished_voice import VoiceChoice
from voicenym.audio.given_audio import checked_audio, checked_rate
from voicenym.errors import AudioError, UnknownSystemError
from voicenym.pseudonym.given_pseudonyms import checked_pseudonyms

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import torch

    from voicenym.anonymizer.text_edit import TextEdit
    from voicenym.audio import Audio
    from voicenym.nets.speakers.speaker_encoder import Encoder
    from voicenym.pseudonym import Key, Pseudonym

BLOCK_SECONDS = 40.0
"""Length of the blocks in which whole recordings pass through their stream."""
BY_SIGNAL, BY_VERIFIERS = "signal", "verifiers"
COMPARISONS = (BY_SIGNAL, BY_VERIFIERS)
"""Comparisons of outputs with inputs: by the signal, or by bundled verifiers if the output is meant
to sound like the input.
"""


def listed(revisions: Sequence[int]) -> str:
    """Revisions as text for messages: ``1 and 2``."""
    return " and ".join(str(revision) for revision in revisions)


@dataclass(frozen=True)
class Anonymizer(VoiceChoice, ABC):
    """Anonymization system: waveform in, waveform of another voice out.

    Subclasses are frozen dataclasses whose fields are the system's parameters, so that the repr
    rebuilds the object; all are keyword arguments of :func:`load`.

    Args:
        device: where torch computes: ``cpu``, ``cuda``, ``cuda:1`` ...
        revision: of the way the voices are drawn and made, one of :attr:`revisions`; 0 for that of
            the pseudonym's key.
        voice_kind: wish for the voice: ``female``, ``male``, ``low`` or ``high``; ``any`` for none.
        voice_variant: number of the voice among those of a pseudonym that fit: 0 for the first.
        live: whether whole recordings are processed as live streams are, without a profile; each
            begins with an average of its own.

    Example:
        >>> import torch, voicenym
        >>> anonymize = voicenym.load("mcadams")
        >>> audio = voicenym.Audio(torch.zeros(16000), 16000)
        >>> anonymize(audio, voicenym.Key.generate().pseudonym("speaker-1"))
        Audio(1.000 s, 16000 Hz, 1 channel)
    """

    device: str = field(default="cpu", kw_only=True)
    revision: int = field(default=0, kw_only=True)
    live: bool = field(default=False, kw_only=True)

    card: ClassVar[Card]
    revisions: ClassVar[tuple[int, ...]] = (1,)
    """Revisions of this release, in rising order; each gives the same voices in every release. A
    change of the output, by other weights too, is a new revision."""
    compared_by: ClassVar[str] = BY_SIGNAL
    """Comparison of outputs with inputs when files are written, one of :data:`COMPARISONS`."""
    unbundled: ClassVar[tuple[str, ...]] = ()
    """Parameters that name weights which no package holds. The figures of the card are of some, of
    which its text says which they are."""
    streams: ClassVar[bool] = True
    """Whether it works live. A system with a profile reads the whole recording first."""
    running_averages: ClassVar[bool] = False
    """Whether a live stream knows only averages so far, where a recording has a profile: the stream
    differs from the recording, and protects less."""
    unnamed_values: ClassVar[Mapping[str, Any]] = {}
    """Values of parameters that came after others, with which the system does what it did before:
    :meth:`parameters` leaves them out, so that settings keep the names that releases gave them."""
    last_live_revision: ClassVar[int] = 0
    """Revision that changed live streams last: those of later ones are the same. 0: the latest."""

    def __call__(self, audio: Audio, pseudonym: Pseudonym) -> Audio:
        """Anonymize a recording in memory.

        Args:
            audio: samples ``[time]`` or ``[channel, time]``; channels share the pseudonym.
            pseudonym: of the speaker.

        Returns:
            Audio of the same rate, channels and length, at the same level within 1 dB.

        Raises:
            AudioError: if samples are not finite or the shape is not one of the above.
        """
        return self.batch([audio], [pseudonym])[0]

    def batch(self, audios: Sequence[Audio], pseudonyms: Sequence[Pseudonym]) -> list[Audio]:
        """Anonymize several recordings of one rate together; the result is that of each alone.

        Args:
            audios: recordings of one sample rate, of any lengths and channel counts.
            pseudonyms: one for each recording.
        """
        import torch

        if len(audios) != len(pseudonyms):
            raise AudioError(f"{len(audios)} recordings but {len(pseudonyms)} pseudonyms")
        checked_pseudonyms(pseudonyms)
        if not audios:
            return []
        check_device(self.device)
        rates = {checked_audio(audio).rate for audio in audios}
        if len(rates) != 1:
            raise AudioError(f"recordings of one batch need one sample rate, not {sorted(rates)}")
        rate = checked_rate(rates.pop())
        rows: list[torch.Tensor] = []
        row_pseudonyms: list[Pseudonym] = []
        for audio, pseudonym in zip(audios, pseudonyms, strict=True):
            samples = checked(audio.samples)
            rows.extend(samples)
            row_pseudonyms.extend([pseudonym] * samples.shape[0])
        lengths = [row.shape[-1] for row in rows]
        padded = rows[0][None] if len(rows) == 1 else torch.nn.utils.rnn.pad_sequence(rows, True)
        block = round(BLOCK_SECONDS * rate)
        profile = None
        if self.reads_ahead:
            revisions = {self.revision_for(pseudonym) for pseudonym in pseudonyms}
            one = self.of_revision(revisions.pop()) if len(revisions) == 1 else self
            profile = one._known_profile(padded, rate, lengths)
        stream = self._stream(row_pseudonyms, rate, profile)
        *blocks, last = padded.split(block, dim=1)
        parts = [stream.push(part) for part in blocks]
        parts.append(stream.finish(last))
        whole = torch.cat(parts, dim=1)
        totals = stream.lengths(lengths)
        result, start = [], 0
        for audio in audios:
            stop = start + audio.channels
            length = max(totals[start:stop])  # channels share a tempo
            samples = whole[start:stop, :length]
            if len(audios) > 1:
                samples = samples.clone()  # so that one recording does not keep the others
            result.append(
                replace(audio, samples=samples[0] if audio.samples.ndim == 1 else samples)
            )
            start = stop
        return result

    def stream(
        self,
        pseudonym: Pseudonym,
        rate: int,
        channels: int = 1,
        profile: Any = None,
        low_delay: bool = False,
    ) -> Stream:
        """Anonymize block by block: live, or with bounded memory.

        Args:
            pseudonym: of the speaker.
            rate: sample rate of the blocks, in Hz.
            channels: rows of the blocks ``[channel, time]``; they share the pseudonym.
            profile: result of :meth:`profiling`, where :attr:`needs_profile`.
            low_delay: for live speech: converts rates with filters of some milliseconds
                (:mod:`voicenym.dsp.low_delay_resampling`). In blocks of 10 ms a stream of 48 kHz
                is 7 ms later than one of 16 kHz, in place of 74; above 7 kHz, and at 8 kHz above
                3.4 kHz, the conversion differs from a file's.
        """
        check_device(self.device)
        return self._stream([pseudonym] * checked_channels(channels), rate, profile, low_delay)

    def profiling(
        self,
        rate: int,
        channels: int = 1,
        lengths: Sequence[int] | None = None,
        pseudonym: Pseudonym | None = None,
    ) -> Profiling:
        """The first pass over a recording, for a system that needs one.

        Args:
            rate: sample rate of the blocks, in Hz.
            channels: rows of the blocks ``[channel, time]``.
            lengths: samples per row where rows are padded at their end (batches).
            pseudonym: of the speaker, if it is known: then nothing is computed that only other
                revisions need.
        """
        if pseudonym is not None and not self.revision:
            known = self.of_revision(self.revision_for(pseudonym))
            return known.profiling(rate, channels, lengths)
        check_device(self.device)
        rate, channels = checked_rate(rate), checked_channels(channels)
        working = self.working_rate(rate)
        scaled = None if lengths is None else [-(-n * working // rate) for n in lengths]
        with without_exit(self.card.name):
            profiler = self.profiler(channels, working, scaled)
        origin = self._origin(rate, channels)
        return Profiling(profiler, rate, working, channels, self.device, origin)

    def revision_for(self, pseudonym: Pseudonym | Key) -> int:
        """The revision in force: that of the system, else of the key, else the latest.

        Raises:
            UnknownSystemError: this release does not have it.
        """
        name = self.card.name
        found = self.revision or pseudonym.revision(name) or self.revisions[-1]
        if found not in self.revisions:
            raise UnknownSystemError(
                f"{name}: revision {found} is not of this release, which has "
                f"{listed(self.revisions)}; use the release that the key was made with, or give "
                f"revision={self.revisions[-1]} for other voices"
            )
        return found

    def of_revision(self, revision: int) -> Self:
        """The system of a revision, with all that it holds, an edit of texts included."""
        found = copy.copy(self)
        object.__setattr__(found, "revision", revision)
        return found

    @property
    def encoder(self) -> Encoder | None:
        """The speaker encoder that the system uses anyway; outputs are compared by it, too."""
        return None

    def check(self) -> None:
        """Check the weights before the first recording.

        Raises:
            WeightsError: weights that the system needs are not there.
            VoicenymError: they are damaged, or do not fit.
        """

    def with_text_edit(self, edit: TextEdit) -> Anonymizer:
        """The system with an edit of the texts that it speaks; itself, if it speaks none.

        Args:
            edit: of one recording.
        """
        return self

    @property
    def own_weights(self) -> str:
        """Folder of weights that the user put in place of bundled ones, without a setting that
        names it; empty where the bundled ones are used, or a setting names others. The figures of
        the card are not of them.
        """
        return ""

    @property
    def draws(self) -> bool:
        """Whether the pseudonym changes the voice; some settings give all speakers one voice."""
        return True

    @property
    def needs_profile(self) -> bool:
        """Whether the system reads the whole recording before it changes it."""
        return False

    @property
    def profile_kind(self) -> Hashable | None:
        """What a profile depends on, besides samples, rate and device: equal values, equal
        profiles; None for a profile that is not remembered.
        """
        return None

    @property
    def reads_ahead(self) -> bool:
        """Whether recordings get a first pass: :attr:`needs_profile`, and not :attr:`live`."""
        return self.needs_profile and not self.live

    @property
    def works_live(self) -> bool:
        """Whether it streams, without a profile if need be."""
        return self.streams and (self.profile_optional or not self.needs_profile)

    @property
    def profile_optional(self) -> bool:
        """Whether it can work live without a profile, adapting with the signal."""
        return False

    def in_sync(self) -> Anonymizer:
        """The system for sound that belongs to a picture: no sound moves in time."""
        return self

    @property
    def may_refuse(self) -> bool:
        """Whether :meth:`refusal` may find a reason."""
        return False

    def refusal(self, profile: Any) -> Refusal | None:
        """Reason why the system does not suit a recording; None without one.

        Whoever writes files asks before the second pass. Calls in memory do not ask: there, a
        system is evaluated as itself.

        Args:
            profile: result of :meth:`profiling`; None for a system that needs none.
        """
        return None

    def refuses(self, audio: Audio) -> Refusal | None:
        """:meth:`refusal` of a recording in memory.

        Args:
            audio: samples ``[time]`` or ``[channel, time]``.
        """
        if not self.may_refuse:
            return None
        rows = checked(checked_audio(audio).samples)
        return self.refusal(self._profile(rows, audio.rate) if self.reads_ahead else None)

    def _known_profile(self, rows: torch.Tensor, rate: int, lengths: Sequence[int]) -> Any:
        """:meth:`_profile`, from memory if the recordings were analysed before."""
        from voicenym.dsp.analysis_memory import analysed

        if self.profile_kind is None:
            return self._profile(rows, rate, lengths)
        kind = ("profile", self.profile_kind, rate, tuple(lengths), self.device)
        return analysed(rows, kind, lambda: self._profile(rows, rate, lengths))

    def _profile(self, rows: torch.Tensor, rate: int, lengths: Sequence[int] | None = None) -> Any:
        """Profile of the recordings ``[row, time]``, of so many samples each."""
        profiling = self.profiling(rate, len(rows), lengths=lengths)
        for part in rows.split(round(BLOCK_SECONDS * rate), dim=1):
            profiling.push(part)
        return profiling.result()

    def _stream(
        self,
        pseudonyms: Sequence[Pseudonym],
        rate: int,
        profile: Any,
        low_delay: bool = False,
    ) -> Stream:
        if self.needs_profile and profile is None and not self.profile_optional:
            raise AudioError(
                f"{self.card.name} must analyse the whole recording first: pass profile= from "
                f"{self.card.name}.profiling(rate, channels), or choose a system that streams"
            )
        check_torch_state()
        rate = checked_rate(rate)
        check_profile(profile, self._origin(rate, len(pseudonyms)))
        working = self.working_rate(rate)
        drawn = [self.drawn(pseudonym) for pseudonym in checked_pseudonyms(pseudonyms)]
        with without_exit(self.card.name):
            core = self.core_for(drawn, rate, profile)
        if low_delay and hasattr(core, "use_low_delay"):  # a core that converts rates itself
            core.use_low_delay()
        return Stream(core, rate, working, len(pseudonyms), self.device, low_delay, self.card.name)

    def _origin(self, rate: int, rows: int) -> Origin:
        return Origin(self.card.name, rate, rows, lambda: self.profile_kind)

    def working_rate(self, rate: int) -> int:
        """The rate at which a recording of ``rate`` Hz is processed, 8 to 16 kHz."""
        return working_rate(rate)

    def core_for(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        """The core for recordings of ``rate`` Hz; overridden where their band matters."""
        return self.core(pseudonyms, self.working_rate(rate), profile)

    @abstractmethod
    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        """The signal processing for these rows at the working ``rate`` (8 to 16 kHz)."""

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        """The first pass at the working ``rate``; only where :attr:`needs_profile`."""
        raise NotImplementedError(f"{self.card.name} needs no profile")

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the revision, without wishes that there are not and
        without :attr:`unnamed_values`; none depends on a key.
        """
        values = dataclasses.asdict(self)
        left_out = {"revision", *self.unset_wishes, *(() if self.live else ("live",))}
        left_out |= {name for name, usual in self.unnamed_values.items() if values[name] == usual}
        return {name: value for name, value in values.items() if name not in left_out}
