"""Streaming cores of the MUSA codec: windows of a recording, or a live stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from voicenym.errors import VoicenymError
from voicenym.identity import Identity
from voicenym.nets.codec.codec import CONTEXT, MOST_SAMPLES, RATE, Codec
from voicenym.nets.codec.codec_stream import CodecStream
from voicenym.nets.codec.style_encoder import LEAST_SAMPLES
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.codec.codec_anonymization import voices
from voicenym.resynthesis.codec.running_speaker import (
    LatestSpeaker,
    RunningSpeaker,
    WholeSpeaker,
)
from voicenym.resynthesis.common.output_level import EarlyLevel, Level
from voicenym.resynthesis.common.row_groups import Group, Grouped, Output, low_pass
from voicenym.resynthesis.common.windows import Window, Windows

BUNDLED = Path(__file__).parent / "bundled" / "musa"
"""Folder of the codec that comes along."""
ENDLESS = 2**62
EARLY_FROM = 2
"""Revision of ``musa`` from which on live streams come 40 ms sooner; recordings do not change."""
EVERY_SECONDS = 1.0
"""Interval of the updates of a live stream's speaker vector."""


class CodecSpeakers:
    """Speaker encoder of the codec behind the interface of first-pass readers.

    Args:
        codec: with the encoder.

    Attributes:
        size: elements of a vector.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec, self.size = codec, codec.size

    @torch.inference_mode()
    def embed(self, recordings: Sequence[torch.Tensor]) -> torch.Tensor:
        """Speaker vectors ``[recording, size]`` of ``[time]`` each; short ones are repeated."""
        found = []
        for samples in recordings:
            times = -(-LEAST_SAMPLES // max(1, len(samples)))
            enough = samples.repeat(times) if len(samples) else samples.new_zeros(LEAST_SAMPLES)
            found.append(self._codec.speaker(enough[None])[0])
        return torch.stack(found)


class CodedCore(Grouped):
    """Core for recordings with known speaker vectors, in overlapping windows.

    Args:
        codec: trained, on the device.
        own: ``[row, size]`` of the speakers.
        voice: ``[row, size]`` of the target voices.
        lengths: samples of each row where rows are padded; None where they end together.
        rate: of the recording, in Hz.
        device: where to compute.

    Raises:
        VoicenymError: vectors of another size.
    """

    def __init__(
        self,
        codec: Codec,
        own: torch.Tensor,
        voice: torch.Tensor,
        lengths: Sequence[int] | None,
        rate: int = RATE,
        device: str = "cpu",
    ) -> None:
        codec.check(own, voice)
        rows = len(own)
        taps = low_pass(rate) if rate < RATE else None
        ends = [ENDLESS] * rows if lengths is None else list(lengths)
        # Each row alone, so that it is the same in any batch.
        made = [
            _Row(codec, row, ends[row], own[row, None], voice[row, None], taps)
            for row in range(rows)
        ]
        context = -(-CONTEXT // codec.hop) * codec.hop
        step = max(1, (MOST_SAMPLES - 2 * context) // codec.hop) * codec.hop
        super().__init__(made, Windows(rows, step, context, device), rows, device)
        self.latency += codec.hop


class _Row(Group):
    def __init__(
        self,
        codec: Codec,
        row: int,
        end: int,
        own: torch.Tensor,
        voice: torch.Tensor,
        taps: torch.Tensor | None,
    ) -> None:
        super().__init__([row], end, taps, str(own.device))
        self._codec, self._own, self._voice = codec, own, voice

    def process(self, window: Window) -> None:
        kept = min(window.kept, max(0, self.end - window.start - window.before))
        if not kept:
            return
        samples = window.samples[self.rows, : self.end - window.start]
        span = slice(window.before, window.before + kept)
        made = self._codec.decode(self._codec.encode(samples, self._own).total, self._voice)
        self.put(samples[:, span], made[:, span])

    def rest(self) -> torch.Tensor:
        return self._own.new_zeros(1, 0)


class LiveCodedCore:
    """Core for live streams with a causal codec and running speaker vectors.

    The speaker vector is updated every second from the latest speech; before that it is the mean of
    the training speakers. It is computed after the block that completes the second, since blocks
    that are shorter than a frame and complete none have time for it.

    Args:
        codec: trained, causal, on the device.
        pseudonyms: one a row.
        method: identity method, see :func:`voicenym.resynthesis.codec.codec_anonymization.voices`.
        strength: as there.
        rate: of the recording, in Hz.
        device: where to compute.
        revision: of ``musa``: from :data:`EARLY_FROM` on, the level looks one frame ahead, and
            mels of the speaker encoder are computed once.

    Raises:
        VoicenymError: a codec that looks ahead.
    """

    def __init__(
        self,
        codec: Codec,
        pseudonyms: Sequence[Pseudonym],
        method: Identity | None,
        strength: float,
        rate: int = RATE,
        device: str = "cpu",
        revision: int = EARLY_FROM,
    ) -> None:
        if not codec.sizes.causal:
            raise VoicenymError(
                "this codec looks ahead and does not work live; train one with codec: "
                "{causal: true}, such as --config musa-small"
            )
        rows = len(pseudonyms)
        self._codec, self._method, self._strength = codec, method, strength
        self._pseudonyms = list(pseudonyms)
        own = codec.voices.mean.to(device).expand(rows, -1).clone()
        self._stream = CodecStream(codec, own, self._voices(own))
        early = revision >= EARLY_FROM
        level = (EarlyLevel if early else Level)(rows, device)
        self._output = Output(rows, low_pass(rate) if rate < RATE else None, device, level)
        self._speaker: LatestSpeaker = (RunningSpeaker if early else WholeSpeaker)(codec, rows)
        self._due = False
        self._every = round(EVERY_SECONDS * RATE / codec.hop) * codec.hop
        self._left = self._every
        self._remaining = 0
        self.latency = self._stream.latency + self._output.latency

    @torch.inference_mode()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        """Adds ``[row, time]``; returns the finished samples."""
        self._remaining += block.shape[1]
        parts = [block[:, :0]]
        while block.shape[1]:
            self._listen()
            some, block = block[:, : self._left], block[:, self._left :]
            parts.append(self._output.push(some, self._stream.push(some)))
            self._speaker.push(some)
            self._left -= some.shape[1]
            if not self._left:
                self._left, self._due = self._every, True
        out = torch.cat(parts, dim=1)
        self._remaining -= out.shape[1]
        return out

    @torch.inference_mode()
    def flush(self) -> torch.Tensor:
        """The remaining samples."""
        self._listen()
        nothing = self._stream.own[:, :0]
        parts = [self._output.push(nothing, self._stream.flush()), self._output.flush(nothing)]
        return torch.cat(parts, dim=1)[:, : self._remaining]

    def _listen(self) -> None:
        """Updates the speaker vectors of rows that hold speech, where a second is complete."""
        if self._due:
            self._due = False
            own = self._speaker.vectors(self._stream.own)
            self._stream.set_voices(own, self._voices(own))

    def _voices(self, own: torch.Tensor) -> torch.Tensor:
        found = voices(own.cpu(), self._pseudonyms, self._method, self._strength)
        return found.to(own)
