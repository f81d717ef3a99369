"""Traits of a system: whether it streams, reads ahead or refuses, and what it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from voicenym.nets.speakers.speaker_encoder import Encoder

BY_SIGNAL, BY_VERIFIERS = "signal", "verifiers"
COMPARISONS = (BY_SIGNAL, BY_VERIFIERS)
"""Comparisons of outputs with inputs: by the signal, or by bundled verifiers if the output is meant
to sound like the input.
"""


class SystemTraits:
    """Part of :class:`voicenym.anonymizer.Anonymizer`: its traits, as of the simplest system.

    A system overrides those that are otherwise. None depends on a recording or a key.
    """

    live: bool

    compared_by: ClassVar[str] = BY_SIGNAL
    """Comparison of outputs with inputs when files are written, one of :data:`COMPARISONS`."""
    unbundled: ClassVar[tuple[str, ...]] = ()
    """Parameters that name weights which no package holds. The figures of the card are of some, of
    which its text says which they are."""
    streams: ClassVar[bool] = True
    """Whether it works live. A system with a profile reads the whole recording first."""
    profile_type: ClassVar[type | None] = None
    """Class of its profiles, by which other objects are refused; None for unchecked ones."""
    running_averages: ClassVar[bool] = False
    """Whether a live stream knows only averages so far, where a recording has a profile: the stream
    differs from the recording, and protects less."""
    unnamed_values: ClassVar[Mapping[str, Any]] = {}
    """Values of parameters that came after others, with which the system does what it did before:
    :meth:`Anonymizer.parameters` leaves them out, so that settings keep the names that releases
    gave them."""

    @property
    def encoder(self) -> Encoder | None:
        """The speaker encoder that the system uses anyway; outputs are compared by it, too."""
        return None

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
    def profile_optional(self) -> bool:
        """Whether it can work live without a profile, adapting with the signal."""
        return False

    @property
    def reads_ahead(self) -> bool:
        """Whether recordings get a first pass: :attr:`needs_profile`, and not live."""
        return self.needs_profile and not self.live

    @property
    def works_live(self) -> bool:
        """Whether it streams, without a profile if need be."""
        return self.streams and (self.profile_optional or not self.needs_profile)

    @property
    def may_refuse(self) -> bool:
        """Whether :meth:`Anonymizer.refusal` may find a reason."""
        return False
