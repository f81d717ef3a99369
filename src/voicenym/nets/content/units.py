"""Discrete speech units: k-means clusters of acoustic features.

Hsu et al., "HuBERT", TASLP 2021: clusters of cepstra, then of a layer of the model trained on them,
discriminate phones without transcripts. The clustered features are content encoders of this module
too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.dsp.features.mfcc import HOP as CEPSTRA_HOP
from voicenym.dsp.features.mfcc import MFCC, with_slopes
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.hubert import UNITS_LAYER, HubertSoft
from voicenym.nets.masked_batch import valid

KIND = "units"
COEFFICIENTS = 13
SLOPES = 2
"""Order of the deltas: with thirteen cepstra, 39 elements, as for HuBERT's first units."""


class Units(torch.nn.Module):
    """Cluster centres.

    Args:
        centres: ``[unit, size]``.
        source: description of the features, fit for JSON.
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
        """Elements of a feature frame."""
        return self.centres.shape[1]

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """Unit indices ``[...]`` of frames ``[..., size]``: the nearest centre, the first of
        equals.
        """
        # Of |x - c|^2, |x|^2 is the same for all.
        far = self.centres.square().sum(1) - 2.0 * frames.to(self.centres) @ self.centres.T
        return far.argmin(-1)

    def error(self, frames: torch.Tensor) -> torch.Tensor:
        """Mean squared distance of ``[frame, size]`` to the nearest centre."""
        return (frames - self.centres[self(frames)]).square().sum(-1).mean()

    def save(self, folder: Path, card: Mapping[str, Any] | None = None) -> None:
        """Writes the units to a folder.

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
    def load(cls, folder: Path | str) -> Units:
        """Reads units written by :meth:`save`.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no units.
        """
        config, state = read(folder)
        if config.get("kind") != KIND:
            raise VoicenymError(f"{folder}: holds no units; give a folder of voicenym train units")
        with rebuilding(folder):
            units = cls(torch.zeros(config["options"]), config.get("source"))
        fill(units, state, folder)
        return units


class Cepstra(Content):
    """Cepstra with deltas, mean-normalised over the recording and averaged over 20 ms."""

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
    """Hidden states of a layer of HuBERT.

    Args:
        hubert: the network.
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
