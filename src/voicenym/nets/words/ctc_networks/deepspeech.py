"""DeepSpeech2: a differentiable network from waveforms to a graphemic posteriorgram.

Amodei et al., "Deep Speech 2: end-to-end speech recognition in English and Mandarin", ICML 2016,
arXiv 1512.02595, in the form that V-Cloak (Deng et al., USENIX Security 2023, section 4.2.2 and
figure 5) uses for intelligibility: two 2-D convolutions, five bidirectional LSTMs, a fully
connected layer, 29 tokens. Sizes and features are those of the common implementation in PyTorch,
``deepspeech.pytorch``, whose weights load (``voicenym models convert --as deepspeech2``).

Deviations: recordings are padded with zeros instead of reflected at both ends, so that the features
of a recording do not depend on the batch; and batch normalisation ignores padding in training.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import fill
from voicenym.nets.masked_batch import MaskedBatchNorm, valid

RATE = 16_000
WINDOW, HOP = 320, 160
"""20 ms every 10 ms, in samples; the window is also the length of the transform."""
LABELS = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ "
"""Tokens of published English checkpoints, in order; the first is CTC's blank."""
CEILING = 20.0
"""Clipping value of the convolutions' rectifier, section 3.1 of the paper."""
FLATTEST = 1e-5
"""Least deviation for the normalisation of log magnitudes; below it is digital silence."""
_MAPS = (
    (r"^conv\.seq_module\.0\.", "first."),
    (r"^conv\.seq_module\.1\.", "first_norm."),
    (r"^conv\.seq_module\.3\.", "second."),
    (r"^conv\.seq_module\.4\.", "second_norm."),
    (r"^rnns\.(\d+)\.batch_norm\.module\.", r"layers.\1.norm."),
    (r"^rnns\.(\d+)\.rnn\.", r"layers.\1.rnn."),
    (r"^fc\.0\.module\.0\.", "output_norm."),
    (r"^fc\.0\.module\.1\.", "output."),
)
"""From names in published checkpoints to those here."""


@dataclass(frozen=True)
class DeepSpeech2Config:
    """Sizes of a DeepSpeech2.

    Args:
        tokens: of the output, CTC's blank included.
        size: of each recurrent layer, whose two directions are added.
        layers: recurrent ones.
        cell: ``lstm`` or ``gru``.
        channels: of the convolutions.
    """

    tokens: int = len(LABELS)
    size: int = 1024
    layers: int = 5
    cell: str = "lstm"
    channels: int = 32

    def __post_init__(self) -> None:
        if self.cell not in ("lstm", "gru"):
            raise ValueError(f"cell is lstm or gru, not {self.cell!r}")


class DeepSpeech2(torch.nn.Module):
    """DeepSpeech2: CTC logits of recordings, a frame every 20 ms.

    Args:
        config: sizes.

    Example:
        >>> net = DeepSpeech2(DeepSpeech2Config(size=8, layers=1)).eval()
        >>> logits, frames = net(torch.zeros(2, 16_000), torch.tensor([16_000, 8_000]))
        >>> list(logits.shape), frames.tolist()
        ([2, 51, 29], [51, 26])
    """

    window: torch.Tensor

    def __init__(self, config: DeepSpeech2Config) -> None:
        super().__init__()
        self.config = config
        channels = config.channels
        self.register_buffer("window", torch.hamming_window(WINDOW), persistent=False)
        self.first = torch.nn.Conv2d(1, channels, (41, 11), stride=(2, 2), padding=(20, 5))
        self.first_norm = MaskedBatchNorm(channels)
        self.second = torch.nn.Conv2d(channels, channels, (21, 11), stride=(2, 1), padding=(10, 5))
        self.second_norm = MaskedBatchNorm(channels)
        sizes = [channels * 41, *[config.size] * config.layers]  # 161 bins, halved twice
        self.layers = torch.nn.ModuleList(
            [
                Recurrent(sizes[i], sizes[i + 1], config.cell, normalised=i > 0)
                for i in range(config.layers)
            ]
        )
        self.output_norm = MaskedBatchNorm(config.size)
        self.output = torch.nn.Linear(config.size, config.tokens, bias=False)

    @classmethod
    def from_published(cls, state: Mapping[str, Any], source: str = "weights") -> DeepSpeech2:
        """Network with the weights of a bidirectional ``deepspeech.pytorch`` checkpoint.

        Its sizes are inferred from the weights.

        Args:
            state: tensors by their published names.
            source: of them, for errors.

        Raises:
            VoicenymError: another architecture; names the first key that differs.
        """
        renamed = {_renamed(name): value for name, value in state.items()}
        try:
            recurrent = renamed["layers.0.rnn.weight_ih_l0"]
            inner = renamed["layers.0.rnn.weight_hh_l0"]
            config = DeepSpeech2Config(
                tokens=len(renamed["output.weight"]),
                size=inner.shape[1],
                layers=len([name for name in renamed if name.endswith(".rnn.weight_ih_l0")]),
                cell={4: "lstm", 3: "gru"}[len(recurrent) // inner.shape[1]],
                channels=len(renamed["first.weight"]),
            )
        except KeyError as error:
            raise VoicenymError(
                f"{source}: no bidirectional DeepSpeech2 of LSTMs or GRUs: it lacks {error}"
            ) from None
        net = cls(config)
        fill(net, renamed, source)
        return net.eval()

    def features(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log magnitudes ``log(1 + |X|)``, normalised to mean 0 and deviation 1 within each
        recording.

        Args:
            samples: ``[batch, time]`` at 16 kHz, zeros behind each recording.
            lengths: ``[batch]`` in samples.

        Returns:
            ``[batch, frame, 161]``, zeros behind each recording, and frames ``[batch]``.
        """
        with torch.autocast(samples.device.type, enabled=False):
            extended = functional.pad(samples, (WINDOW // 2, WINDOW // 2))
            logs = torch.log1p(
                torch.fft.rfft(extended.unfold(-1, WINDOW, HOP) * self.window.to(samples)).abs()
            )
            frames = 1 + lengths.div(HOP, rounding_mode="floor")
            mask = valid(frames, logs.shape[1])[..., None]
            count = (frames * logs.shape[2])[:, None, None]
            centred = (logs - (logs * mask).sum((1, 2), keepdim=True) / count) * mask
            power = centred.square().sum((1, 2), keepdim=True) / (count - 1)
            return centred / (power + FLATTEST**2).sqrt(), frames

    def logits(
        self, features: torch.Tensor, frames: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame / 2, token]`` of :meth:`features`, and numbers of frames
        ``[batch]``.
        """
        frames = frames.add(1).div(2, rounding_mode="floor")
        x = features.transpose(1, 2)[:, None]
        mask = valid(frames, (features.shape[1] + 1) // 2)
        for convolution, norm in (
            (self.first, self.first_norm),
            (self.second, self.second_norm),
        ):
            x = norm(convolution(x).permute(0, 3, 2, 1), mask)  # [batch, frame, bin, channel]
            x = functional.hardtanh(x, 0.0, CEILING).permute(0, 3, 2, 1)
        x = x.flatten(1, 2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x, frames, mask)
        return self.output(self.output_norm(x, mask)), frames

    def forward(
        self, samples: torch.Tensor, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits ``[batch, frame, token]`` of recordings, and numbers of frames ``[batch]``.

        This is the posteriorgram that V-Cloak compares: the output of the fully connected layer
        before the softmax.
        """
        return self.logits(*self.features(samples, lengths))

    def freeze(self) -> DeepSpeech2:
        """Freezes weights and statistics for use in a loss; returns the network.

        Gradients then reach the waveform and stop there. Recurrent layers are left in training
        mode, in which they compute the same, because without it cuDNN refuses gradients.
        """
        self.eval().requires_grad_(False)
        for module in self.modules():
            if isinstance(module, torch.nn.RNNBase):
                module.train()
        return self


class Recurrent(torch.nn.Module):
    """Batch normalisation, then a bidirectional LSTM or GRU whose directions are added."""

    def __init__(self, inward: int, size: int, cell: str, normalised: bool) -> None:
        super().__init__()
        self.norm = MaskedBatchNorm(inward) if normalised else None
        kind = torch.nn.LSTM if cell == "lstm" else torch.nn.GRU
        self.rnn = kind(inward, size, bidirectional=True, batch_first=True)

    def forward(self, x: torch.Tensor, frames: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, inward]`` to ``[batch, frame, size]``, zeros behind each recording."""
        if self.norm is not None:
            x = self.norm(x, mask)
        packed = pack_padded_sequence(x, frames.cpu(), batch_first=True, enforce_sorted=False)
        both, _ = pad_packed_sequence(
            self.rnn(packed)[0], batch_first=True, total_length=x.shape[1]
        )
        return both.unflatten(-1, (2, -1)).sum(-2)


def posteriorgram_distance(
    first: torch.Tensor, second: torch.Tensor, frames: torch.Tensor
) -> torch.Tensor:
    """Intelligibility loss of V-Cloak: mean squared difference of two posteriorgrams.

    Args:
        first, second: ``[batch, frame, token]``, of the original and the anonymized speech.
        frames: ``[batch]``, numbers of valid frames.

    Returns:
        ``[batch]``: MSE(GPG(x), GPG(x~)), section 4.2.2.
    """
    mask = valid(frames, first.shape[1])[..., None]
    return ((first - second).square() * mask).sum((1, 2)) / (frames * first.shape[2])


def _renamed(name: str) -> str:
    for pattern, instead in _MAPS:
        found, count = re.subn(pattern, instead, name)
        if count:
            return found
    return name
