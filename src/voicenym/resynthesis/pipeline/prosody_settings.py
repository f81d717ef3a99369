"""Treatment of prosody and accent in a pipeline: F0, level, timing and content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

CHANGES = ("predicted", "shaped", "moved", "quantised", "noisy")
"""F0 transformations, in the order of application."""
TARGETED = {"predicted", "moved"}
"""Those that give F0 the mean and deviation of the target voice; one of them at most."""
FARTHEST = 2.0
LEVELS, TIMINGS = ("kept", "drawn", "fixed"), ("kept", "loose", "drawn")
ACCENTS = ("kept", "native", "drawn")
NATIVE = ("native", "drawn")
"""Those whose content is that of a native reading."""


class ContentKind(NamedTuple):
    """Kind of content frames of a recording.

    Args:
        accent, coarse_silence, soft: as of :class:`Prosody`.
    """

    accent: str
    coarse_silence: bool
    soft: bool = False


@dataclass(frozen=True)
class Prosody:
    """Treatment of prosody and accent.

    Args:
        changes: F0 transformations, in order; none keep the speaker's F0.
        noise: deviation of the transformation ``noisy``, in deviations of ln F0.
        level: ``kept``; ``drawn``: syllables have the synthesizer's level, and only that over 3 s
            follows the input (:mod:`voicenym.resynthesis.common.slow_level`); ``fixed``: neither
            does, and pauses are silent (:mod:`voicenym.resynthesis.common.fixed_level`).
        timing: ``kept``; ``loose``: speaking rate and local tempo are drawn
            (:mod:`voicenym.resynthesis.common.loose_timing`); ``drawn``: durations are predicted
            and drawn, and the length changes (:mod:`voicenym.resynthesis.common.drawn_timing`).
        accent: ``kept``; ``native``: content is that of a native reading of the same words
            (:meth:`voicenym.nets.content.content_encoder.Content.native`); ``drawn``: with an
            accent that the pseudonym draws (:mod:`voicenym.nets.content.drawn_accent`).
        coarse_silence: whether the content encoder computes the silence that fills its windows in
            groups (:meth:`voicenym.nets.content.content_encoder.Content.with_language_score`).
        soft: whether content is soft units in place of codes, as there.
    """

    changes: tuple[str, ...] = ()
    noise: float = 0.0
    level: str = "kept"
    timing: str = "kept"
    accent: str = "kept"
    coarse_silence: bool = False
    soft: bool = False

    @classmethod
    def of(cls, f0: str, noise: float, level: str, timing: str, accent: str = "kept") -> Prosody:
        """Treatment of the settings of a system.

        Args:
            f0: ``kept``, or transformations with ``+`` between them.
            noise: 0 to :data:`FARTHEST`.
            level: one of :data:`LEVELS`.
            timing: one of :data:`TIMINGS`.
            accent: one of :data:`ACCENTS`.

        Raises:
            ValueError: settings that do not exist, or do not go together.
        """
        chosen = f0.split("+")
        if f0 != "kept" and (set(chosen) - set(CHANGES) or len(set(chosen)) != len(chosen)):
            raise ValueError(
                f"f0 is kept, or one or more of {', '.join(CHANGES)} with + between them, "
                f"not {f0!r}"
            )
        if set(chosen) >= TARGETED:
            raise ValueError(
                "f0 is predicted or moved, and not both: predicted F0 has the target's mean and "
                "deviation"
            )
        if "shaped" in chosen and "predicted" not in chosen:
            raise ValueError(
                "f0=shaped adds coarse intonation to predicted F0: give f0=predicted+shaped"
            )
        if not 0.0 <= noise <= FARTHEST:
            raise ValueError(f"noise is 0 to {FARTHEST:g} deviations, not {noise}")
        for name, value, known in (
            ("level", level, LEVELS),
            ("timing", timing, TIMINGS),
            ("accent", accent, ACCENTS),
        ):
            if value not in known:
                names = f"{', '.join(known[:-1])} or {known[-1]}"
                raise ValueError(f"{name} is {names}, not {value!r}")
        if timing != "kept" and level == "kept":
            raise ValueError(
                f"timing={timing} needs level=drawn or level=fixed: the level of the input would "
                "stay where it was while the words move"
            )
        changes = tuple(change for change in CHANGES if change in chosen)
        return cls(changes, noise, level, timing, accent)

    @property
    def content_kind(self) -> ContentKind:
        """Which content frames are needed. Those of a native reading are kept before they are codes
        or soft units, so that they are the same for both.
        """
        soft = self.soft and self.accent not in NATIVE
        return ContentKind(self.accent, self.coarse_silence, soft)

    @property
    def targeted(self) -> bool:
        """Whether F0 gets the mean and deviation of the target voice."""
        return bool(TARGETED & set(self.changes))

    @property
    def predicted(self) -> bool:
        """Whether F0 is predicted from content."""
        return "predicted" in self.changes

    @property
    def shaped(self) -> bool:
        """Whether the coarse intonation of the input's phrases is added to predicted F0."""
        return "shaped" in self.changes

    @property
    def moves_time(self) -> bool:
        """Whether sounds move in time."""
        return self.timing != "kept"

    @property
    def needs_phrases(self) -> bool:
        """Whether the phrases of the recording are needed."""
        return self.moves_time or self.shaped or self.level == "fixed"

    @property
    def changes_length(self) -> bool:
        """Whether recordings become longer or shorter."""
        return self.timing == "drawn"
