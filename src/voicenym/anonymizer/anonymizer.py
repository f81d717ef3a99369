"""Anonymizer: base class of all systems."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from voicenym.anonymizer.card import Card
from voicenym.anonymizer.checked_input import checked
from voicenym.anonymizer.refusal import Refusal
from voicenym.anonymizer.system_streams import SystemStreams
from voicenym.anonymizer.whole_recordings import anonymized, profile_of
from voicenym.audio.given_audio import checked_audio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voicenym.anonymizer.text_edit import TextEdit
    from voicenym.audio import Audio
    from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Anonymizer(SystemStreams):
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
        return anonymized(self, audios, pseudonyms)

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

    def in_sync(self) -> Anonymizer:
        """The system for sound that belongs to a picture: no sound moves in time."""
        return self

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
        return self.refusal(profile_of(self, rows, audio.rate) if self.reads_ahead else None)

    def parameters(self) -> dict[str, Any]:
        """The parameters by name, without the revision, without wishes that there are not and
        without :attr:`unnamed_values`; none depends on a key.
        """
        values = dataclasses.asdict(self)
        left_out = {"revision", *self.unset_wishes, *(() if self.live else ("live",))}
        left_out |= {name for name, usual in self.unnamed_values.items() if values[name] == usual}
        return {name: value for name, value in values.items() if name not in left_out}
