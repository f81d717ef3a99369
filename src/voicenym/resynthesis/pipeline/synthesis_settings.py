"""How a synthesizer is used: as it was trained, which its folder may say."""

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
LEARNT = "learnt_with"
"""Where a synthesizer's configuration says it."""


@dataclass(frozen=True)
class Settings:
    """What a synthesizer was trained on beside its parts.

    Args:
        tracker: of pitch, by name.
        lowest, highest: its limits in Hz.
        scale: of speaker vectors, as the synthesizer hears them: ``none``; ``unit`` length;
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
        """Speaker vectors ``[..., element]`` as the synthesizer hears them."""
        if self.scale == "none":
            return vectors
        if self.scale == "octaves":
            return octaves(vectors)
        unit = torch.nn.functional.normalize(vectors, dim=-1)
        return unit if self.scale == "unit" else unit * math.sqrt(vectors.shape[-1])

    @classmethod
    def told(cls, config: Mapping[str, Any], where: Path) -> Settings:
        """Those in a configuration; the usual where it says nothing.

        Args:
            config: read.
            where: it was read from, for errors.

        Raises:
            VoicenymError: settings that there are not.
        """
        try:
            return cls(**{name: config[name] for name in asdict(cls()) if name in config})
        except (TypeError, VoicenymError) as error:
            raise VoicenymError(f"{where}: {error}; mend it, or make the folder again") from None


@dataclass(frozen=True)
class Learnt:
    """What a synthesizer of ``voicenym train synthesizer`` was trained with.

    Args:
        settings: that it is to be used with.
        content, speaker: what their weights may be called, as of :func:`names`.
    """

    settings: Settings
    content: tuple[str, ...]
    speaker: tuple[str, ...]

    def config(self) -> dict[str, Any]:
        """For the synthesizer's configuration, fit for JSON."""
        told = {"content": list(self.content), "speaker": list(self.speaker)}
        return {LEARNT: {**asdict(self.settings), **told}}

    @classmethod
    def of(cls, folder: Path) -> Learnt | None:
        """What a synthesizer's folder says; None where it says nothing, as after a conversion.

        Raises:
            VoicenymError: no configuration, or one that means nothing.
        """
        told = configuration(folder).get(LEARNT)
        if not isinstance(told, Mapping):
            return None
        parts = (tuple(told.get(name, ())) for name in ("content", "speaker"))
        return cls(Settings.told(told, folder / CONFIG), *parts)

    def check(self, places: Mapping[str, Path]) -> None:
        """Refuse content and speaker encoders that the synthesizer does not know.

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
    """What weights may be called: our digest of them, or that of the checkpoint behind them."""
    told = configuration(place)
    card = told.get("card", {})
    return {str(told.get(DIGEST, ""))[:16], str(card.get("its SHA-256", ""))[:16]} - {""}
