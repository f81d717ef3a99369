"""What a content encoder is: a waveform in, a vector for every frame out, of any length of speech.

Frame ``i`` stands for the samples from ``i * hop`` to ``(i + 1) * hop``; a recording whose last
frame is not full has zeros behind it, so that a synthesizer of the same hop gives no fewer samples
than there were.
"""

from __future__ import annotations

from abc import abstractmethod

import torch

from voicenym.nets.architectures import Network
from voicenym.nets.masked_batch import valid

RATE = 16_000


class Content(Network):
    """A network from waveforms to frames of content.

    Attributes:
        size: elements of a frame.
        rate: of waveforms, in Hz.
        hop: samples of a frame.
        reach: samples before and after a frame that decide it; None where the whole recording does,
            as with attention. What has a reach streams.
        most_samples: a longer recording is heard in windows by :meth:`extract`.
        context: samples that a window has beside those whose frames are kept, on either side; a
            multiple of the hop.
    """

    size: int
    rate = RATE
    hop = 320
    reach: int | None = None
    most_samples = 30 * RATE
    context = 3 * RATE

    @abstractmethod
    def encode(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Whole frames ``[batch, frame * hop]`` to ``[batch, frame, size]``, differentiable.

        Args:
            waveforms: zeros after the end of a shorter one; a frame at least.
            lengths: ``[batch]`` in samples, multiples of the hop; None where all are whole. What a
                row gives within its length does not depend on the padding, nor on other rows, but
                for batch statistics in training.
        """

    def frames_of(self, samples: int) -> int:
        """Frames of so many samples: the last may be in part of zeros."""
        return -(-samples // self.hop)

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """``[batch, time]`` to ``[batch, ceil(time / hop), size]``.

        Args:
            waveforms: anything after the end of a shorter one.
            lengths: ``[batch]`` in samples; None where all are whole. Frames after
                ``ceil(length / hop)`` are zeros.

        Raises:
            ValueError: if waveforms are not ``[batch, time]``.
        """
        if waveforms.ndim != 2:
            raise ValueError(f"waveforms {tuple(waveforms.shape)} are not [batch, time]")
        rows, samples = waveforms.shape
        frames = self.frames_of(samples)
        if not frames:
            return waveforms.new_zeros(rows, 0, self.size)
        waveforms = torch.nn.functional.pad(waveforms, (0, frames * self.hop - samples))
        if lengths is None:
            return self.encode(waveforms)
        counts = lengths.add(self.hop - 1).div(self.hop, rounding_mode="floor")
        waveforms = waveforms * valid(lengths, waveforms.shape[1])
        # A row of no samples still has a frame to normalise over; it is taken away again.
        found = self.encode(waveforms, counts.clamp_min(1) * self.hop)
        return found * valid(counts, frames)[:, :, None]

    @torch.inference_mode()
    def extract(self, waveform: torch.Tensor) -> torch.Tensor:
        """Frames ``[frame, size]`` of a recording ``[time]`` of any length, in bounded memory.

        One that is longer than ``most_samples`` is heard in windows of at most as many, which
        overlap by twice the context. Frames are those of the whole, to rounding, where the context
        is the reach at least; where there is no reach they are near.
        """
        samples = len(waveform)
        if samples <= self.most_samples:
            return self(waveform[None])[0]
        step = (self.most_samples - 2 * self.context) // self.hop * self.hop
        if step <= 0 or self.context % self.hop:
            raise ValueError(f"windows of {self.most_samples} with a context of {self.context}")
        parts = []
        for start in range(0, samples, step):
            first = max(0, start - self.context)
            found = self(waveform[None, first : start + step + self.context])[0]
            kept = (start - first) // self.hop
            parts.append(found[kept : kept + step // self.hop].clone())
        return torch.cat(parts)

    def stream(self, rows: int = 1) -> ContentStream:
        """Begin a stream of so many rows.

        Raises:
            ValueError: if a frame depends on the whole recording.
        """
        return ContentStream(self, rows)


class ContentStream:
    """Frames of content made block by block, equal to those of the whole to rounding.

    The samples within reach are heard again with every block: blocks that are not short beside it
    cost little more than the whole.

    Args:
        network: one with a reach.
        rows: recordings side by side.

    Attributes:
        latency: samples that are held back: after ``n`` samples there were ``(n - latency) // hop``
            frames.

    Raises:
        ValueError: if the network has no reach.
    """

    def __init__(self, network: Content, rows: int = 1) -> None:
        if network.reach is None:
            raise ValueError(f"{network.kind} needs a recording as a whole and does not stream")
        self.latency = network.reach
        self._network = network
        parameter = next(network.parameters(), torch.zeros(0))
        self._heard = torch.zeros(rows, 0, device=parameter.device)
        self._past = 0  # frames at the beginning of _heard that were given already

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """``[row, time]``, of any length, to the frames ``[row, frame, size]`` that are ready."""
        self._heard = torch.cat([self._heard, block.to(self._heard)], dim=1)
        hop = self._network.hop
        ready = max(0, self._heard.shape[1] - self.latency) // hop
        if ready <= self._past:
            return self._nothing()
        found = self._network(self._heard)[:, self._past : ready]
        self._drop(ready)
        return found

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The rest, ``[row, frame, size]``; the stream is over."""
        found = self._network(self._heard)[:, self._past :]
        self._heard = self._heard[:, :0]
        self._past = 0
        return found

    def _drop(self, ready: int) -> None:
        """Forget what no later frame depends on."""
        hop = self._network.hop
        kept = -(-self.latency // hop)
        forgotten = max(0, ready - kept)
        self._heard = self._heard[:, forgotten * hop :].clone()
        self._past = ready - forgotten

    def _nothing(self) -> torch.Tensor:
        return self._heard.new_zeros(len(self._heard), 0, self._network.size)
