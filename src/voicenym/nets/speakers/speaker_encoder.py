"""Interface of speaker encoders: recordings to one vector each."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import chain

import torch

from voicenym.dsp.features.fbank import frames_of
from voicenym.memory import keep_freed_blocks
from voicenym.nets.architectures import Network
from voicenym.nets.speakers.tdnn_layers import laid_out

RATE = 16_000
AT_ONCE = {"cpu": 16 * RATE, "cuda": 300 * RATE}
"""Samples that are embedded at once, padding included; a longer recording is embedded alone.

On a processor, a few seconds fill its units, and their activations stay in its cache or at least in
memory that is in use already; a GPU wants more."""
PADDING = 1 / 64
"""Greatest padding as a share of a full batch: a recording that needs more starts a new batch. The
fixed cost of a batch is a little more than that.
"""


class Encoder(Network):
    """Network from waveforms to speaker vectors.

    Attributes:
        size: elements of a vector.
        RATE: of waveforms, in Hz.
        least_samples: a shorter recording is repeated up to this length before it is embedded.
        most_samples: a longer recording is embedded in equal parts whose vectors are averaged, in
            bounded memory.
        hertz: whether a vector's elements are frequencies ``[F0, F1, ...]`` in Hz.
    """

    size: int
    hertz = False
    RATE = RATE
    least_samples = RATE // 10
    most_samples = 120 * RATE

    @abstractmethod
    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Acoustic features ``[batch, frame, band]`` of ``[batch, time]``, differentiable.

        Args:
            waveforms: zeros after the end of a shorter one.
            lengths: ``[batch]`` in samples; None where all are whole. A row's features do not
                depend on the other rows; frames after ``1 + length / 160`` are undefined.
        """

    @abstractmethod
    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Vectors ``[batch, size]`` of features ``[batch, frame, band]``, of any length.

        Args:
            features: of :meth:`features`; normalisation over a row's frames happens here. A row has
                at least the frames of ``least_samples``.
            lengths: ``[batch]`` in frames; None where all are whole. Padding after a row's frames
                does not change its vector, except for batch statistics in training.
        """

    def forward(self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Vectors ``[batch, size]`` of waveforms ``[batch, time]`` at 16 kHz.

        Args:
            waveforms: zeros after the end of a shorter one.
            lengths: ``[batch]`` in samples; None where all are whole.
        """
        frames = None if lengths is None else frames_of(lengths)
        return self.encode(self.features(waveforms, lengths), frames)

    @torch.inference_mode()
    def embed(self, recordings: Sequence[torch.Tensor], padded: int = 0) -> torch.Tensor:
        """Vectors ``[recording, size]`` of recordings ``[time]`` of any lengths at 16 kHz.

        Recordings of similar length form a batch; up to rounding, a vector does not depend on the
        others. Call ``eval()`` first.

        Args:
            recordings: ``[time]`` each.
            padded: samples to which shorter ones are padded with zeros that do not count, so that
                there are few shapes of batches: oneDNN, and the layer between it and torch, keep
                what they prepared for each of up to 1,024 shapes (1.5 to 3 MB for ``ecapa-small``).
        """
        parts, counts = [], []
        for recording in recordings:
            these = self._parts(recording)
            parts.extend(these)
            counts.append(len(these))
        if not recordings:
            return torch.zeros(0, self.size)
        device = next(chain(self.parameters(), self.buffers())).device
        keep_freed_blocks()
        vectors: list[torch.Tensor] = [torch.empty(0)] * len(parts)
        with laid_out(self):
            most = AT_ONCE.get(device.type, AT_ONCE["cuda"])
            for indices in _batches([max(len(part), padded) for part in parts], most):
                some = [parts[i] for i in indices]
                lengths = torch.tensor([len(part) for part in some])
                equal = bool((lengths == max(int(lengths[0]), padded)).all())
                batch = torch.nn.utils.rnn.pad_sequence(some, batch_first=True)
                batch = torch.nn.functional.pad(batch, (0, max(0, padded - batch.shape[1])))
                batch = batch.to(device)
                found = self(batch, None if equal else lengths.to(device)).cpu()
                for i, vector in zip(indices, found, strict=True):
                    vectors[i] = vector
        return torch.stack([some.mean(0) for some in torch.stack(vectors).split(counts)])

    def _parts(self, recording: torch.Tensor) -> list[torch.Tensor]:
        """Segments of a recording: repeated if too short, equal parts if too long."""
        if not len(recording):
            return [recording.new_zeros(self.least_samples)]
        if len(recording) < self.least_samples:
            return [recording.repeat(-(-self.least_samples // len(recording)))]
        return list(recording.tensor_split(-(-len(recording) // self.most_samples)))


def _batches(lengths: Sequence[int], most: int) -> Iterator[list[int]]:
    """Batches of indices of similar lengths, longest first, with at most ``most`` samples with
    padding.
    """
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batch:
            longest = lengths[batch[0]]
            if longest * (len(batch) + 1) > most or longest - lengths[i] > PADDING * most:
                yield batch
                batch = []
        batch.append(i)
    if batch:
        yield batch
