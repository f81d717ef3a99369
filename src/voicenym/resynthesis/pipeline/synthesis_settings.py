"""Conditioning settings of a synthesizer, as recorded in its training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.pitch.trackers import tracker
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, DIGEST, configuration
from voicenym.nets.speakers.formant_pitch_encoder import octaves

SCALES = ("none", "unit", "root", "octaves")
TRAINED_WITH = "learnt_with"
"""Key of the record in a synthesizer's configuration."""


@dataclass(frozen=True)
class Settings:
    """F0 tracker and vector scale that a synthesizer was trained with.

    Args:
        tracker: name of the F0 tracker.
        lowest, highest: its limits in Hz.
        scale: of the speaker vectors at the synthesizer's input: ``none``; ``unit`` length;
            ``root``, the root of their size; or ``octaves``, of frequencies in Hz
            (:func:`voicenym.nets.speakers.formant_pitch_encoder.octaves`).

    Raises:
        VoicenymError: a tracker or a scale that there is not, limits that leave nothing.
    """

    tracker: str = "yaapt"
    lowest: float = 60.0
    highest: float = 400.0
    scale: str = "none"

    def __post_init__(self) -> None:
        tracker(self.tracker)
        if self.scale not in SCALES:
            raise VoicenymError(f"scale is one of {', '.join(SCALES)}, not {self.scale!r}")
        if not 0.0 < self.lowest < self.highest:
            raise VoicenymError(f"pitch between {self.lowest} and {self.highest} Hz is none")

    def scaled(self, vectors: torch.Tensor) -> torch.Tensor:
        """Speaker vectors ``[..., element]`` in the scale of the synthesizer."""
        if self.scale == "none":
            return vectors
        if self.scale == "octaves":
            return octaves(vectors)
        unit = torch.nn.functional.normalize(vectors, dim=-1)
        return unit if self.scale == "unit" else unit * math.sqrt(vectors.shape[-1])

    @classmethod
    def from_config(cls, config: Mapping[str, Any], where: Path) -> Settings:
        """Settings of a configuration; defaults for missing ones.

        Args:
            config: read.
            where: it was read from, for errors.

        Raises:
            VoicenymError: unknown settings.
        """
        try:
            return cls(**{name: config[name] for name in asdict(cls()) if name in config})
        except (TypeError, VoicenymError) as error:
            raise VoicenymError(f"{where}: {error}; mend it, or make the folder again") from None


@dataclass(frozen=True)
class TrainingRecord:
    """Record of the training of a synthesizer by ``voicenym train synthesizer``.

    Args:
        settings: conditioning settings.
        content, speaker: names of the encoders' weights, see :func:`names`.
    """

    settings: Settings
    content: tuple[str, ...]
    speaker: tuple[str, ...]

    def config(self) -> dict[str, Any]:
        """Entries of the synthesizer's configuration, fit for JSON."""
        recorded = {"content": list(self.content), "speaker": list(self.speaker)}
        return {TRAINED_WITH: {**asdict(self.settings), **recorded}}

    @classmethod
    def of(cls, folder: Path) -> TrainingRecord | None:
        """Record in a synthesizer's folder; None if there is none, as after a conversion.

        Raises:
            VoicenymError: no configuration, or one that means nothing.
        """
        recorded = configuration(folder).get(TRAINED_WITH)
        if not isinstance(recorded, Mapping):
            return None
        parts = (tuple(recorded.get(name, ())) for name in ("content", "speaker"))
        return cls(Settings.from_config(recorded, folder / CONFIG), *parts)

    def check(self, places: Mapping[str, Path]) -> None:
        """Rejects content and speaker encoders that the synthesizer was not trained with.

        Args:
            places: folders, ``content`` and ``speaker``.

        Raises:
            VoicenymError: other weights, of whatever size.
        """
        for name, wanted in (("content", self.content), ("speaker", self.speaker)):
            if wanted and not names(places[name]) & set(wanted):
                raise VoicenymError(
                    f"{places[name]}: the synthesizer was trained with other weights of the {name} "
                    f"({wanted[0]}): take those, or train it with these (voicenym train "
                    "synthesizer)"
                )


def names(place: Path) -> set[str]:
    """Identifiers of weights: our digest of them, or that of the checkpoint they were converted
    from.
    """
    recorded = configuration(place)
    card = recorded.get("card", {})
    return {str(recorded.get(DIGEST, ""))[:16], str(card.get("its SHA-256", ""))[:16]} - {""}
