"""Refuses an output that is nearly its input, for every system (law 8).

Every recording is compared while it is written, before the file gets its name. The thresholds lie
between the values of trivial changes (a delay, another sign or level, noise at 30 dB, a filter, a
change of speed by half a percent) and those of all systems for the adults of a corpus under several
keys (``benchmarks/studies/speakers/nearness.py``, docs/security.md).

:attr:`voicenym.Anonymizer.compared_by` selects the comparison: by default that of the signals. A
system whose output is meant to sound like its input selects ``verifiers``; then the bundled
verifier must not find the speaker in the output. No option switches both off.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import torch

from voicenym.anonymizer import BY_SIGNAL, COMPARISONS, Anonymizer
from voicenym.corpus.nearness.sample_correlation import SampleCorrelation
from voicenym.corpus.nearness.segment_similarity import Segments
from voicenym.corpus.nearness.signal_similarity import OTHER_DISTANCE, SignalSimilarity
from voicenym.errors import AudioError
from voicenym.memory import keep_freed_blocks

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder

NEAR_DISTANCE = 0.025
"""Log-mel distance up to which a segment counts as its input."""
NEAR_CORRELATION = 0.965
"""Correlation of waveforms from which a segment counts as its input, unless its spectra differ."""
SAME_SAMPLES = 0.999
"""Correlation of a whole channel, sample by sample, from which it counts as its input: what was
changed lies 27 dB below what was not. It decides on sounds that are short or steady. Of 80
recordings of real speech, those that `vtln` changed least came to 0.989.
"""
NEAR_SIMILARITY = 0.72
"""Cosine of speaker vectors from which an output counts as its input, for systems whose outputs are
meant to sound like inputs.
"""
NEAR_VOICE = 0.6
"""The same for systems that load the verifier's encoder: a copied voice gives 0.62 to 0.85, drawn
voices up to 0.52.
"""
MOST_SHARE = 0.25
"""Share of a channel's segments from which the channel counts as its input."""
PASSAGE = 5
"""Number of successive segments that count as a passage of the input, for any length."""
CHUNK_SECONDS = 4.0
"""Length of a chunk for the verifier."""
SHORTEST_SECONDS = 1.0
"""Shortest last chunk for the verifier, unless it is the only one."""
QUIETEST = 1e-4
"""Root mean square of a chunk below which it counts as silence."""
STEADY_DECIBELS = 2.0
"""Deviation of frame levels below which a chunk is a steady sound without speech."""
FRAME_SECONDS = 0.032


class Comparison:
    """Compares an input and its output.

    Args:
        rate: in Hz.
        channels: of both.
        tempo: length of the output over that of the input.
        system: the anonymizer, which selects the comparison; None compares the signals alone.

    Raises:
        AudioError: the system selects no comparison that there is.
    """

    def __init__(
        self, rate: int, channels: int, tempo: float = 1.0, system: Anonymizer | None = None
    ) -> None:
        compared_by = BY_SIGNAL if system is None else system.compared_by
        if system is not None and compared_by not in COMPARISONS:
            raise AudioError(
                f"{system.card.name}.compared_by is {compared_by!r}; it must be one of "
                f"{', '.join(COMPARISONS)}"
            )
        keep_freed_blocks()
        by_signal = compared_by == BY_SIGNAL
        self._signal = SignalSimilarity(rate, channels, tempo) if by_signal else None
        self._samples = SampleCorrelation(channels) if by_signal and tempo == 1.0 else None
        self._limit = NEAR_VOICE if by_signal else NEAR_SIMILARITY
        encoder = None
        if system is not None:
            encoder = system.encoder if by_signal else _bundled(system.device)
        self._voices = None if encoder is None else _Voices(encoder, rate, channels, tempo)
        every = (self._signal, self._samples, self._voices)
        self._compared = [c for c in every if c is not None]

    def push_input(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the input."""
        for compared in self._compared:
            compared.push_input(block)

    def push_output(self, block: np.ndarray | torch.Tensor) -> None:
        """``[channel, time]`` of the output."""
        for compared in self._compared:
            compared.push_output(block)

    def nearness(self) -> str:
        """How the output, which is complete, is nearly the input, in words; empty if it is not."""
        for compared in self._compared:
            compared.finish()
        return next(self._reasons(), "")

    def _reasons(self) -> Iterator[str]:
        if self._signal is not None:
            for channel, segments in enumerate(self._signal.found):
                if how := likeness(segments):
                    yield f"channel {channel + 1}: {how}"
        if self._samples is not None:
            for channel, correlation in enumerate(self._samples.found):
                if abs(correlation) >= SAME_SAMPLES:
                    yield f"channel {channel + 1}: correlation of samples {correlation:.3f}"
        if self._voices is not None:
            for channel, similarities in enumerate(self._voices.found):
                share = _share([s >= self._limit for s in similarities])
                if share >= MOST_SHARE:
                    yield (
                        f"channel {channel + 1}: the bundled verifier finds the speaker in "
                        f"{100 * share:.0f} % of it, cosine {max(similarities):.2f}"
                    )


class NearOriginalCheck(Comparison):
    """Compares an input and its output; :meth:`finish` refuses an output that is nearly its input.

    Args:
        system: the anonymizer.
        name: of the recording, for messages.
        rate, channels, tempo: as of :class:`Comparison`.
    """

    def __init__(
        self, system: Anonymizer, name: str, rate: int, channels: int, tempo: float = 1.0
    ) -> None:
        super().__init__(rate, channels, tempo, system)
        self._name, self._system = name, system.card.name

    def finish(self) -> None:
        """Compare.

        Raises:
            AudioError: the output is nearly the input.
        """
        if how := self.nearness():
            raise AudioError(
                f"{self._name}: the output would be nearly the input ({how}), so nothing is "
                f"written: {self._system} with these settings and this voice does not hide this "
                "speaker; take another key or --speaker name, which draws another voice, or other "
                "settings, or another --system"
            )


def likeness(segments: Segments) -> str:
    """How a channel is nearly its input, in words; empty if it is not."""
    near = nearly(segments)
    share = _share(near)
    if share >= MOST_SHARE:
        how = f"{100 * share:.0f} % of its speech is as before"
    elif (row := _longest(near)) >= PASSAGE:
        how = f"a passage of {row} s is as before"
    else:
        return ""
    known = [d for d in segments.distances if not math.isnan(d)]
    least = f"; least log-mel distance {max(0.0, min(known)):.3f}" if known else ""
    most = max((c for c in segments.correlations if not math.isnan(c)), default=0.0)
    return f"{how}{least}, greatest correlation {most:.2f}"


def nearly(segments: Segments) -> list[bool]:
    """Whether each segment is nearly its input."""
    return [
        # comparisons with NaN are false
        distance <= NEAR_DISTANCE
        or (correlation >= NEAR_CORRELATION and not distance > OTHER_DISTANCE)
        for distance, correlation in zip(segments.distances, segments.correlations, strict=True)
    ]


def _share(near: Sequence[bool]) -> float:
    return sum(near) / len(near) if near else 0.0


def _longest(near: Sequence[bool]) -> int:
    """Length of the longest run of true values."""
    best = row = 0
    for one in near:
        row = row + 1 if one else 0
        best = max(best, row)
    return best


@lru_cache(maxsize=2)
def _bundled(device: str) -> Encoder:
    from voicenym.nets.speakers.speaker_encoders import SMALL, load

    return load(SMALL).to(device).eval()


def _somebody(sound: torch.Tensor, rate: int) -> bool:
    """Whether there may be speech in ``[time]``: neither silence nor a steady sound."""
    if sound.numel() == 0 or sound.square().mean().sqrt() < QUIETEST:
        return False
    frame = max(1, round(FRAME_SECONDS * rate))
    whole = len(sound) // frame * frame
    levels = 10 * torch.log10(sound[:whole].reshape(-1, frame).square().mean(1) + QUIETEST**2)
    return len(levels) < 2 or float(levels.std()) >= STEADY_DECIBELS


class _Voices:
    """Cosines of speaker vectors of an input and its output, chunk by chunk.

    Attributes:
        found: ``[channel][chunk]``.
    """

    def __init__(self, encoder: Encoder, rate: int, channels: int, tempo: float) -> None:
        self._encoder = encoder
        self._rate = rate
        self._sizes = (round(CHUNK_SECONDS * rate), round(CHUNK_SECONDS * rate * tempo))
        self._kept = [torch.zeros(channels, 0), torch.zeros(channels, 0)]
        self.found: list[list[float]] = [[] for _ in range(channels)]

    def push_input(self, block: np.ndarray | torch.Tensor) -> None:
        self._add(0, block)

    def push_output(self, block: np.ndarray | torch.Tensor) -> None:
        self._add(1, block)

    def finish(self) -> None:
        length = self._kept[0].shape[1]
        if length >= SHORTEST_SECONDS * self._rate or (length and not any(self.found)):
            self._compare(self._first())

    def _add(self, side: int, block: np.ndarray | torch.Tensor) -> None:
        self._kept[side] = torch.cat([self._kept[side], torch.as_tensor(block)], dim=1)
        pairs = list(zip(self._kept, self._sizes, strict=True))
        while all(part.shape[1] >= size for part, size in pairs):
            self._compare(self._first())
            self._kept = [part[:, size:].clone() for part, size in pairs]
            pairs = list(zip(self._kept, self._sizes, strict=True))

    def _first(self) -> list[torch.Tensor]:
        """Next chunk of both signals; the last one may be shorter."""
        return [part[:, :size] for part, size in zip(self._kept, self._sizes, strict=True)]

    def _compare(self, sides: Sequence[torch.Tensor]) -> None:
        import soxr

        before, after = sides
        for channel, found in enumerate(self.found):
            one, other = before[channel], after[channel]
            if not _somebody(one, self._rate) or not other.any():
                continue
            resampled = [
                soxr.resample(x.numpy(), self._rate, self._encoder.RATE) for x in (one, other)
            ]
            vectors = self._encoder.embed([torch.from_numpy(x) for x in resampled])
            found.append(
                float(torch.nn.functional.cosine_similarity(vectors[0], vectors[1], dim=0))
            )
