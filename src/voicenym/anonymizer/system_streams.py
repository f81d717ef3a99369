"""Streams and first passes of a system, made of its core and its profiler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from voicenym.anonymizer.checked_input import checked_channels
from voicenym.anonymizer.core_output import without_exit
from voicenym.anonymizer.devices import check_device
from voicenym.anonymizer.profile_origin import Origin, check_profile, check_type
from voicenym.anonymizer.stream import Core, Profiler, Profiling, Stream, working_rate
from voicenym.anonymizer.system_revisions import SystemRevisions
from voicenym.anonymizer.system_traits import SystemTraits
from voicenym.anonymizer.torch_state import check_torch_state
from voicenym.anonymizer.wished_voice import VoiceChoice
from voicenym.audio.given_audio import checked_rate
from voicenym.errors import AudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voicenym.pseudonym import Pseudonym


class SystemStreams(VoiceChoice, SystemRevisions, SystemTraits, ABC):
    """Part of :class:`voicenym.anonymizer.Anonymizer`: signals block by block.

    A system implements :meth:`core`, and :meth:`profiler` where it needs the whole recording first.
    """

    device: str

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
        rows = [pseudonym] * checked_channels(channels)
        return stream_of_rows(self, rows, rate, profile, low_delay)

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
        origin = origin_of(self, rate, channels)
        return Profiling(profiler, rate, working, channels, self.device, origin)

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


def origin_of(system: SystemStreams, rate: int, rows: int) -> Origin:
    """What the profile of a recording must be of, for a stream of a system.

    Args:
        system: whose first pass and stream they are.
        rate: of the recording, in Hz.
        rows: its channels.
    """
    return Origin(system.card.name, rate, rows, lambda: system.profile_kind)


def stream_of_rows(
    system: SystemStreams,
    pseudonyms: Sequence[Pseudonym],
    rate: int,
    profile: Any,
    low_delay: bool = False,
) -> Stream:
    """The stream of a system.

    Args:
        system: whose core gets the blocks.
        pseudonyms: one for each row.
        rate: sample rate of the blocks, in Hz.
        profile: result of :meth:`SystemStreams.profiling`; None without one.
        low_delay: as of :meth:`SystemStreams.stream`.

    Raises:
        AudioError: the system must analyse the whole recording, and there is no profile; what is
            given as one is none, or of other rows; or a rate that no system takes.
    """
    from voicenym.pseudonym.given_pseudonyms import checked_pseudonyms

    if system.needs_profile and profile is None and not system.profile_optional:
        name = system.card.name
        raise AudioError(
            f"{name} must analyse the whole recording first: pass profile= from "
            f"{name}.profiling(rate, channels), or choose a system that streams"
        )
    check_torch_state()
    rate = checked_rate(rate)
    check_profile(profile, origin_of(system, rate, len(pseudonyms)))
    if profile is not None and system.needs_profile:
        check_type(profile, system.profile_type, system.card.name)
    working = system.working_rate(rate)
    drawn = [system.drawn(pseudonym) for pseudonym in checked_pseudonyms(pseudonyms)]
    with without_exit(system.card.name):
        core = system.core_for(drawn, rate, profile)
    if low_delay and hasattr(core, "use_low_delay"):  # a core that converts rates itself
        core.use_low_delay()
    return Stream(core, rate, working, len(pseudonyms), system.device, low_delay, system.card.name)
