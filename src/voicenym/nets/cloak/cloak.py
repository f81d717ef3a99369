"""V-Cloak perturbation: bounded in every sample, computed whole or block by block.

V-Cloak bounds the perturbation by a ball (Deng et al., USENIX Security 2023, equation 1): no sample
changes by more than epsilon. Here, moreover, the input is level-normalised, and the radius
decreases with the level, so that the perturbation does not mask quiet speech and silence stays
silent: within 16 ms around a sample, with root mean square l,

    delta = r tanh(u max(l, L) / epsilon),  r = epsilon min(1, l / L)

u being what the network gives and L, :data:`REFERENCE`, the nominal level of speech. The paper
clips; tanh has the same bound, and a gradient everywhere. The perturbation can change the level of
speech: the sum is rescaled to the level l within the bound.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets import architectures
from voicenym.nets.checkpoint import fill, read, rebuilding, write
from voicenym.nets.cloak.geometry import WaveUNetConfig
from voicenym.nets.cloak.stream_state import Flow
from voicenym.nets.cloak.waveunet import Factors, WaveUNet

RATE = 16_000
REFERENCE = 10.0 ** (-26 / 20)
"""Root mean square of speech at its nominal level, -26 dB of full scale (ITU-T P.56)."""
REACH = 256
"""Half width of the level measurement in samples: 16 ms."""
FLOOR = 1e-4
"""Added to the level before division, far below speech, so that noise is not amplified."""
MOST_EPSILON = 0.15
"""Largest epsilon of the training; V-Cloak's own figures end at 0.10."""
DIRECTIONS = 64
"""Number of principal directions of drawn voiceprints."""
PIECE = 65_536
"""Approximate number of samples, of all rows, processed at once."""


class Cloak(torch.nn.Module):
    """Perturbation network with its bound and the distribution of target voiceprints.

    Args:
        config: of the network.

    Attributes:
        mean, spread: a drawn target is ``mean + spread z``, z normal: ``[voiceprint]`` and
            ``[voiceprint, DIRECTIONS]``.

    Example:
        >>> cloak = Cloak(WaveUNetConfig((4, 8, 8), stride=2)).eval()
        >>> speech = torch.zeros(1, 16_000)
        >>> cloak(speech, torch.zeros(1, 192), torch.tensor([0.05])).abs().max()
        tensor(0.)
    """

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, config: WaveUNetConfig) -> None:
        super().__init__()
        self.config = config
        self.net = WaveUNet(config)
        self.register_buffer("mean", torch.zeros(config.voiceprint))
        self.register_buffer("spread", torch.zeros(config.voiceprint, DIRECTIONS))
        torch.nn.init.eye_(self.spread)

    @property
    def side(self) -> int:
        """Receptive field on either side, in samples."""
        return self.config.side + 2 * REACH

    @property
    def latency(self) -> int:
        """Largest latency of a stream, in samples."""
        return self.config.latency + 2 * REACH

    def forward(
        self, speech: torch.Tensor, voiceprints: torch.Tensor, epsilons: torch.Tensor
    ) -> torch.Tensor:
        """Perturbation ``[batch, time]`` of recordings.

        Args:
            speech: at 16 kHz; zeros lie outside of it.
            voiceprints: ``[batch, voiceprint]`` of the targets; zeros for none.
            epsilons: ``[batch]``.
        """
        padding = self.side + self.config.grid
        wide = torch.nn.functional.pad(speech, (self.side, padding))
        return self.within(wide, voiceprints, epsilons)[:, : speech.shape[1]]

    def within(
        self, speech: torch.Tensor, voiceprints: torch.Tensor, epsilons: torch.Tensor
    ) -> torch.Tensor:
        """Output of :meth:`forward` without the samples at both ends whose context is incomplete:
        ``[batch, time']``.
        """
        factors = self.net.factors(voiceprints, epsilons)
        running = CloakStream(self, factors, epsilons, keeping=False)
        return running.step(speech)

    def fitted(self, voiceprints: torch.Tensor) -> None:
        """Sets the distribution of targets from voiceprints ``[voice, voiceprint]``: mean and
        principal directions, of unit length each.
        """
        unit = torch.nn.functional.normalize(voiceprints.double(), dim=1)
        mean = unit.mean(0)
        u, s, _ = torch.linalg.svd((unit - mean).T / max(1, len(unit) - 1) ** 0.5, False)
        count = min(DIRECTIONS, len(s))
        self.mean.copy_(mean)
        self.spread.zero_()
        self.spread[:, :count] = u[:, :count] * s[:count]

    def drawn(self, normals: torch.Tensor) -> torch.Tensor:
        """Target voiceprints ``[batch, voiceprint]`` from ``[batch, DIRECTIONS]`` normal draws."""
        return self.mean + normals.to(self.mean) @ self.spread.T

    def save(self, folder: Path, *, half: bool = False, **about: Any) -> None:
        """Writes the network to a folder.

        Args:
            folder: made where there is none.
            half: in half precision.
            about: kept in the configuration: how it was trained, what it reaches.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.write`.
        """
        sizes = dataclasses.asdict(self.config)
        write(folder, self.state_dict(), {"kind": "vcloak", "options": sizes, **about}, half=half)

    @classmethod
    def load(cls, folder: Path | str) -> tuple[Cloak, dict[str, Any]]:
        """Reads a network written by :meth:`save`, in evaluation mode, and its configuration.

        Raises:
            DependencyError, VoicenymError: as :func:`voicenym.nets.checkpoint.read`, and where the
                folder holds no cloak, or weights of another (of another K, for example).
        """
        config, state = read(folder)
        if config.get("kind") != "vcloak" or "options" not in config:
            raise VoicenymError(f"{folder}: holds no cloak; give one of voicenym train vcloak")
        with rebuilding(folder):
            cloak = cls(sizes(config["options"], str(folder)))
        levels = len({name.split(".")[2] for name in state if name.startswith("net.down.")})
        if levels != cloak.config.blocks:
            raise VoicenymError(
                f"{folder}: of another architecture: its weights have K = {levels} blocks, and its "
                f"configuration {cloak.config.blocks}; give weights and configuration of one "
                "training"
            )
        fill(cloak, state, folder)
        return cloak.eval(), config


def sizes(options: Mapping[str, Any], where: str) -> WaveUNetConfig:
    """Network sizes from a configuration.

    Raises:
        VoicenymError: of which there is no network.
    """
    return architectures.sizes(WaveUNetConfig, options, where, "a Wave-U-Net")


class CloakStream:
    """Streaming perturbation of the samples pushed, in order.

    Args:
        cloak: in evaluation mode.
        factors: of :meth:`WaveUNet.factors`, a row each.
        epsilons: ``[row]``.
        keeping: False for a single :meth:`step`.
        brief: computation in bf16, which halves the time on hardware that supports it. Blocks then
            equal the whole up to about a thousandth of the perturbation.
    """

    def __init__(
        self,
        cloak: Cloak,
        factors: Factors,
        epsilons: torch.Tensor,
        keeping: bool = True,
        brief: bool = False,
    ) -> None:
        self._cloak = cloak
        dtype = torch.bfloat16 if brief else torch.float32
        self._factors = factors.to(dtype)
        self._epsilons = epsilons[:, None]
        self._flow = Flow(cloak.config, keeping, dtype)
        self._keeping = keeping
        self._remaining = 0
        self._recent: torch.Tensor | None = None
        self._late: torch.Tensor | None = None
        self._made: torch.Tensor | None = None
        self._skip = cloak.config.side
        steps = PIECE // (cloak.config.grid * max(1, len(epsilons)))
        self._piece = max(1, steps) * cloak.config.grid
        self._pending: torch.Tensor | None = None
        self._pushed = 0

    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``; returns the finished perturbation ``[row, time']``."""
        self._remaining += block.shape[1]
        if not self._pushed:
            block = torch.nn.functional.pad(block, (self._cloak.side, 0))
        before, self._pushed = self._pushed, self._pushed + block.shape[1]
        if self._pending is not None:
            block = torch.cat([self._pending, block], dim=1)
        if self._ready(self._pushed) == self._ready(before):
            self._pending = block  # nothing comes out until the bottleneck makes a step
            return block[:, :0]
        self._pending = None
        parts = [self.step(part) for part in block.split(self._piece, dim=1)]
        found = torch.cat(parts, dim=1)
        self._remaining -= found.shape[1]
        return found

    def _ready(self, pushed: int) -> int:
        return self._cloak.config.output(max(0, pushed - 2 * REACH))

    def flush(self) -> torch.Tensor:
        """The remaining samples, in total as many as were pushed."""
        remaining = self._remaining
        tail = self._epsilons.new_zeros(len(self._epsilons), self._cloak.latency + 1)
        return self.push(tail)[:, :remaining]

    def step(self, speech: torch.Tensor) -> torch.Tensor:
        """Output of :meth:`push` without the zeros before the first sample."""
        if self._recent is not None:
            speech = torch.cat([self._recent, speech], dim=1)
        if self._keeping:
            self._recent = speech[:, max(0, speech.shape[1] - 2 * REACH) :]
        inner = speech[:, REACH : max(REACH, speech.shape[1] - REACH)]
        level = _level(speech)
        u = self._cloak.net.run(inner / (level + FLOOR), self._factors, self._flow)
        # the network is late and begins after its side: what it is added to waits for it
        late = torch.stack([inner, level])
        if self._late is not None:
            late = torch.cat([self._late, late], dim=2)
        skipped = min(self._skip, late.shape[2])
        self._skip -= skipped
        late = late[:, :, skipped:]
        self._late = late[:, :, u.shape[1] :]
        inner, level = late[:, :, : u.shape[1]]
        ratio = level / REFERENCE
        radius = self._epsilons * ratio.clamp(max=1.0)
        added = radius * torch.tanh(u * ratio.clamp_min(1.0) * (REFERENCE / self._epsilons))
        return self._leveled(torch.stack([inner, level, radius, added]))

    def _leveled(self, made: torch.Tensor) -> torch.Tensor:
        """Perturbation corrected so that the sum has the level of the speech.

        Args:
            made: speech, its level, the radius, and the perturbation: ``[4, row, time]``.
        """
        if self._made is not None:
            made = torch.cat([self._made, made], dim=2)
        if self._keeping:
            self._made = made[:, :, max(0, made.shape[2] - 2 * REACH) :]
        speech, level, radius, added = made[:, :, REACH : max(REACH, made.shape[2] - REACH)]
        found = _level(made[0] + made[3])
        gain = torch.where(found > 0.0, level / found.clamp_min(1e-9), 1.0)
        moved = gain * (speech + added) - speech
        return torch.minimum(torch.maximum(moved, -radius), radius)


def _level(speech: torch.Tensor) -> torch.Tensor:
    """Root mean squares ``[row, time - 2 REACH]`` around each sample of ``[row, time]``.

    Sums are differences of running sums, which over silence are equal: its level is zero exactly.
    """
    width = 2 * REACH + 1
    if speech.shape[1] < width:
        return speech[:, :0]
    with torch.no_grad():
        sums = torch.nn.functional.pad(speech.double().square().cumsum(1), (1, 0))
        return ((sums[:, width:] - sums[:, :-width]) / width).clamp_min(0.0).sqrt().to(speech)
