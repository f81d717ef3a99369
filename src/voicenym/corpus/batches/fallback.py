"""Fall-back: another system for recordings that a system refuses."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from voicenym.anonymizer import SYSTEMS, Anonymizer, load
from voicenym.anonymizer.live_delay import check_delay_is_used
from voicenym.corpus import DEFAULT_FALLBACK, DEFAULT_SYSTEM, NO_FALLBACK
from voicenym.errors import RefusedError, UnknownSystemError

if TYPE_CHECKING:
    from voicenym.anonymizer import Refusal
    from voicenym.audio import Audio
    from voicenym.pseudonym import Key, Pseudonym


@dataclass(frozen=True)
class Fallback:
    """System for the recordings of a batch that its own system refuses.

    Args:
        system: its name.
        parameters: its parameters.
        revision: of its voices.
        version: of its weights, unless they are bundled.
    """

    system: str
    parameters: Mapping[str, Any]
    revision: int = 1
    version: str = ""

    def stamp(self) -> dict[str, Any]:
        """What its outputs depend on besides the stamp of their batch."""
        return {
            "system": self.system,
            "revision": self.revision,
            "parameters": json.loads(json.dumps(dict(self.parameters), default=str)),
            **({"weights": self.version} if self.version else {}),
        }

    def is_of(self, line: Mapping[str, Any]) -> bool:
        """Whether it made the output of a log line that names a fall-back."""
        stamp = self.stamp()
        return {name: v for name, v in line["fallback"].items() if name != "reason"} == stamp


def fallback_of(text: str, system: Anonymizer, key: Key) -> Fallback | None:
    """The fall-back that a user asks for; None without one, or if the system refuses nothing.

    Args:
        text: its name, with parameters as in ``recast:strength=1``; ``none`` for none.
        system: whose refusals it answers.
        key: of the run, with the revisions of its voices.

    Raises:
        UnknownSystemError: no such system, it is the system itself, or its delay changes nothing.
        VoicenymError: its weights are missing.
    """
    if text == NO_FALLBACK:
        return None
    name, parameters = SYSTEMS.parse(text)
    if not system.may_refuse:
        return None
    if name == system.card.name:
        raise UnknownSystemError(
            f"{name}: is the system itself; give another one as its fall-back, or {NO_FALLBACK}"
        )
    made = load(name, **{"device": system.device, **parameters})
    made.check()
    check_delay_is_used(made)
    return Fallback(name, made.parameters(), made.revision_for(key), made.version)


def refused(name: str, refusal: Refusal) -> RefusedError:
    """Error where a system refuses a recording and there is no fall-back.

    Args:
        name: of the recording.
        refusal: the system's.
    """
    return RefusedError(
        f"{name}: {refusal.reason}; {refusal.cure}, or give a fall-back, such as --fallback "
        f"{DEFAULT_FALLBACK}"
    )


def anonymize(
    audio: Audio,
    pseudonym: Pseudonym,
    system: str | Anonymizer = DEFAULT_SYSTEM,
    *,
    fallback: str | Anonymizer | None = DEFAULT_FALLBACK,
) -> Audio:
    """Anonymizes a recording in memory, by another system where the first one refuses it.

    Args:
        audio: samples ``[time]`` or ``[channel, time]``; channels share the pseudonym.
        pseudonym: of the speaker.
        system: name, or object of :func:`voicenym.load`.
        fallback: name or object of the system for recordings that the first one refuses; its use is
            a :class:`UserWarning`. None: such a recording is an error.

    Returns:
        Audio of the same rate, channels and length.

    Raises:
        RefusedError: the system refuses the recording, and there is no fall-back, or it refuses it
            too.
        VoicenymError: unknown systems, missing weights, or a recording that cannot be anonymized.

    Example:
        >>> import torch, voicenym
        >>> audio = voicenym.Audio(torch.zeros(16000), 16000)
        >>> voicenym.anonymize(audio, voicenym.Key.generate().pseudonym("anna"), "mcadams")
        Audio(1.000 s, 16000 Hz, 1 channel)
    """
    chosen = load(system) if isinstance(system, str) else system
    refusal = chosen.refuses(audio)
    if refusal is None:
        return chosen(audio, pseudonym)
    if fallback is None:
        raise refused("the recording", refusal)
    other = load(fallback) if isinstance(fallback, str) else fallback
    if (again := other.refuses(audio)) is not None:
        raise refused("the recording", again)
    warnings.warn(
        f"anonymized with {other.card.name}, not with {chosen.card.name}: {refusal.reason}; "
        f"{refusal.cure}",
        stacklevel=2,
    )
    return other(audio, pseudonym)
