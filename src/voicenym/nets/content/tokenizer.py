"""Speech tokenizer: an autoencoder of features with one vector-quantised codebook.

Huang, Meng and Ko, "RepCodec", arXiv 2309.00169, which MUSA (Yao et al. 2024, section III.C)
applies to the last layer of XLS-R: k-means of single frames ignores their context; convolutions
around one codebook, trained to reconstruct the frames, preserve more information.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import elu

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.codec.quantizer import ResidualQuantizer
from voicenym.nets.codec.residual_layers import Unit
from voicenym.nets.streaming import Conv

KIND = "tokenizer"


class TokenizedFrames(NamedTuple):
    """Output of the tokenizer in training.

    Args:
        rebuilt: ``[batch, frame, size]``.
        tokens: ``[batch, frame]``.
        commitment: commitment loss, mean squared distance of encoder outputs to their entries.
        perplexity: exponential of the entropy of the tokens.
    """

    rebuilt: torch.Tensor
    tokens: torch.Tensor
    commitment: torch.Tensor
    perplexity: torch.Tensor


class Tokenizer(torch.nn.Module):
    """Convolutional encoder, codebook and decoder with one token per frame.

    Args:
        size: elements of a frame.
        width: channels between.
        units: residual units on either side.
        kernel: of their convolutions, odd.
        entries: of the codebook; MUSA's have 1,024.
        code: elements of an entry.
        source: description of the features, fit for JSON.
    """

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(
        self,
        size: int,
        width: int = 256,
        units: int = 2,
        kernel: int = 3,
        entries: int = 1024,
        code: int = 64,
        source: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if min(size, width, entries, code) < 1 or units < 0 or kernel % 2 == 0:
            raise ValueError("sizes are 1 at least, units 0, and the kernel is odd")
        self._options = {
            "size": size, "width": width, "units": units, "kernel": kernel, "entries": entries,
            "code": code,
        }  # fmt: skip
        self.size, self.source = size, dict(source or {})
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(size))

        def side() -> list[Unit]:
            return [Unit(width, kernel, 2, causal=False) for _ in range(units)]

        self.enter = Conv(size, width, kernel)
        self.before = torch.nn.ModuleList(side())
        self.narrow = Conv(width, code, 1)
        self.codebook = ResidualQuantizer(1, entries, code)
        self.widen = Conv(code, width, kernel)
        self.after = torch.nn.ModuleList(side())
        self.leave = Conv(width, size, kernel)

    def __len__(self) -> int:
        return int(self._options["entries"])

    @torch.no_grad()
    def learn_statistics(self, frames: torch.Tensor) -> None:
        """Sets mean and deviation of frames ``[frame, size]`` for the normalisation."""
        self.mean.copy_(frames.mean(0))
        self.deviation.copy_(frames.std(0).clamp_min(1e-5))

    def normalised(self, frames: torch.Tensor) -> torch.Tensor:
        """Features ``[..., size]`` normalised to mean 0 and deviation 1."""
        return (frames - self.mean) / self.deviation

    def through(self, frames: torch.Tensor) -> TokenizedFrames:
        """Encodes and reconstructs normalised frames ``[batch, frame, size]``."""
        x = self.enter(frames.transpose(1, 2))
        for unit in self.before:
            x = unit(x)
        found = self.codebook(self.narrow(elu(x)))
        x = self.widen(found.total)
        for unit in self.after:
            x = unit(x)
        rebuilt = self.leave(elu(x)).transpose(1, 2)
        return TokenizedFrames(rebuilt, found.codes[:, 0], found.commitment, found.perplexity[0])

    @torch.inference_mode()
    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """Tokens ``[frame]`` of a recording's frames ``[frame, size]``."""
        if not len(frames):
            return torch.zeros(0, dtype=torch.int64, device=frames.device)
        x = self.enter(self.normalised(frames.to(self.mean))[None].transpose(1, 2))
        for unit in self.before:
            x = unit(x)
        return self.codebook(self.narrow(elu(x))).codes[0, 0]

    def save(self, folder: Path, card: Mapping[str, Any] | None = None) -> None:
        """Writes the tokenizer to a folder.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        config = {
            "kind": KIND,
            "options": self._options,
            "source": self.source,
            "card": dict(card or {}),
        }
        write(folder, self.state_dict(), config)

    @classmethod
    def load(cls, folder: Path | str) -> Tokenizer:
        """Reads a tokenizer written by :meth:`save`, in evaluation mode.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no tokenizer.
        """
        config, state = read(folder)
        if config.get("kind") != KIND:
            raise VoicenymError(
                f"{folder}: holds no tokenizer; give a folder of voicenym train tokenizer"
            )
        with rebuilding(folder):
            tokenizer = cls(**config["options"], source=config.get("source"))
        fill(tokenizer, state, folder)
        return tokenizer.eval()
