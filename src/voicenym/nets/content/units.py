"""Discovered units: which of some hundred clusters a frame of features is nearest to.

Hsu et al., "HuBERT", TASLP 2021: clusters of cepstra first, then of a layer of what was trained on
those, tell phones apart without a text. What units are clusters of is here too, as content.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.features.mfcc import HOP as CEPSTRA_HOP
from voicenym.dsp.features.mfcc import MFCC, with_slopes
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, write
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.hubert import UNITS_LAYER, HubertSoft
from voicenym.nets.masked_batch import valid

KIND = "units"
COEFFICIENTS = 13
SLOPES = 2
"""Thirteen cepstra, their slopes and the slopes' slopes: 39, as for HuBERT's first units."""


class Units(torch.nn.Module):
    """Clusters by their centres.

    Args:
        centres: ``[unit, size]``.
        source: what the features are, fit for JSON.
    """

    centres: torch.Tensor

    def __init__(self, centres: torch.Tensor, source: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.register_buffer("centres", centres.float())
        self.source = dict(source or {})

    def __len__(self) -> int:
        return len(self.centres)

    @property
    def size(self) -> int:
        """Elements of a frame."""
        return self.centres.shape[1]

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """``[..., size]`` to units by number ``[...]``: the nearest, the first of equals."""
        # Of |x - c|^2, |x|^2 is the same for all.
        far = self.centres.square().sum(1) - 2.0 * frames.to(self.centres) @ self.centres.T
        return far.argmin(-1)

    def error(self, frames: torch.Tensor) -> torch.Tensor:
        """Mean squared distance to the nearest centre, of ``[frame, size]``."""
        return (frames - self.centres[self(frames)]).square().sum(-1).mean()

    def save(self, folder: Path, card: Mapping[str, Any] | None = None) -> None:
        """Keep them in a folder.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        config = {
            "kind": KIND,
            "options": list(self.centres.shape),
            "source": self.source,
            "card": dict(card or {}),
        }
        write(folder, self.state_dict(), config)

    @classmethod
    def load(cls, folder: Path) -> Units:
        """What :meth:`save` kept.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no units.
        """
        config, state = read(folder)
        if config.get("kind") != KIND:
            raise VoicenymError(f"{folder}: holds no units; give a folder of voicenym train units")
        units = cls(torch.zeros(config["options"]), config.get("source"))
        fill(units, state, folder)
        return units


class Cepstra(Content):
    """Cepstra and their slopes without their mean over the recording, averaged over 20 ms."""

    kind = "cepstra"
    size = COEFFICIENTS * (SLOPES + 1)

    def __init__(self) -> None:
        super().__init__()
        self.mfcc = MFCC(COEFFICIENTS)

    def config(self) -> dict[str, Any]:
        return {}

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        if lengths is not None and not bool((lengths == waveforms.shape[1]).all()):
            # Mirrored ends and slopes are those of each alone.
            rows = [
                self.encode(row[None, :n])[0] for row, n in zip(waveforms, lengths, strict=True)
            ]
            return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        found = with_slopes(self.mfcc(waveforms), SLOPES)
        found = found.unflatten(1, (-1, self.hop // CEPSTRA_HOP)).mean(2)
        return found - found.mean(1, keepdim=True)


class HubertLayer(Content):
    """What a layer of HuBERT gives.

    Args:
        hubert: whose layer.
        layer: from 1; van Niekerk et al. take the seventh, Miao et al. the sixth.
    """

    kind = "hubert"

    def __init__(self, hubert: HubertSoft, layer: int = UNITS_LAYER) -> None:
        super().__init__()
        self.hubert, self.layer = hubert, layer
        self.size = hubert.proj.in_features
        self.eval()

    def config(self) -> dict[str, Any]:
        return {"layer": self.layer}

    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        found = self.hubert.hidden(waveforms, lengths, self.layer)
        if lengths is not None:
            found = found * valid(lengths // self.hop, found.shape[1])[..., None]
        return found
