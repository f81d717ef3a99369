"""Encoder of word codes for live streams: Whisper's encoder, changed so that it looks a few states
ahead and computes each state once.

Whisper's states attend to a whole window, so that a live stream computes a window of some seconds
again for each step. Here states form chunks. A chunk attends to the states of some seconds before
it and to ``ahead`` states after it; those after it are computed again, as part of their own chunk,
when it is their turn (as in Emformer: Shi et al., "Emformer: efficient memory transformer based
acoustic model for low latency streaming speech recognition", ICASSP 2021). Positions repeat after
``period`` states, since a stream has no end. Changes of low rank of Whisper's layers, and of the
head that gives vectors of codes for its states, are trained towards those of whole recordings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.func import functional_call
from torch.nn.functional import pad

from voicenym.errors import VoicenymError
from voicenym.nets.architectures import Kinds, Network, sizes
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.weights import low_rank
from voicenym.nets.weights.low_rank import LowRankChanges
from voicenym.nets.words.whisper.whisper import FFT, HOP, LEAST, RANGE, Encoder, Layer, WhisperSizes

HALF = FFT // 2
"""Samples after the middle of a spectral frame."""


@dataclass(frozen=True)
class LiveSizes:
    """Sizes of a live encoder, in Whisper's states of 20 ms where nothing else is said.

    Args:
        rank: of the changes of the weights.
        chunk: that are computed at a time, whole codes.
        ahead: after a chunk that are read with it, whole codes; training may vary it.
        past: before a chunk to which it attends.
        left: before a chunk that the head reads, whole codes.
        period: positions, after which they repeat.
    """

    rank: int = 16
    chunk: int = 4
    ahead: int = 4
    past: int = 240
    left: int = 16
    period: int = 500

    def __post_init__(self) -> None:
        if min(dataclasses.astuple(self)) < 1 or self.past < self.left:
            raise ValueError("sizes are 1 at least, and past is left or more")


class LiveVectors(NamedTuple):
    """Vectors of the chunks of some recordings.

    Args:
        own: ``[row, code, element]``.
        ahead: ``[row, chunk, code, element]``, those after each chunk, as far as it knows them.
    """

    own: torch.Tensor
    ahead: torch.Tensor


class LiveWordCodes(Network):
    """Changes for live streams of Whisper's encoder and of an encoder of word codes, its head.

    Args:
        whisper: options of :class:`~voicenym.nets.words.whisper.whisper.WhisperSizes`.
        head: options of :class:`~voicenym.nets.content.word_code_encoder.WordCodeEncoder`.
        teacher: fingerprint of the unchanged networks; empty if they are not known.
        options: of :class:`LiveSizes`.

    Raises:
        ValueError, VoicenymError: sizes that do not fit each other.
    """

    kind = "live-word-codes"

    def __init__(
        self,
        whisper: Mapping[str, Any],
        head: Mapping[str, Any],
        teacher: str = "",
        **options: Any,
    ) -> None:
        super().__init__()
        self.teacher, self._head = teacher, dict(head)
        self.sizes = sizes(LiveSizes, options, "live", "a live encoder")
        self.whisper = sizes(WhisperSizes, whisper, "whisper", "a Whisper")
        with torch.device("meta"):  # for their shapes
            plain = WordCodeEncoder(**head)
            layers = [
                Layer(self.whisper.width, self.whisper.heads, cross=False)
                for _ in range(self.whisper.layers)
            ]
            norm = torch.nn.LayerNorm(self.whisper.width)
        self.every, own = plain.sizes.every, self.sizes
        if plain.sizes.states != self.whisper.width or plain.sizes.normalised:
            raise ValueError("the head reads states of another width, or needs whole recordings")
        if any(size % self.every for size in (own.chunk, own.ahead, own.left)):
            raise ValueError(
                f"chunk, ahead and left are multiples of {self.every}, a code's states"
            )
        if own.period > self.whisper.states:
            raise ValueError(f"{own.period} positions, and Whisper has {self.whisper.states}")
        shapes = low_rank.shapes(norm, "norm.")
        for at, layer in enumerate(layers):
            shapes |= low_rank.shapes(layer, f"layers.{at}.")
        self.of_encoder = LowRankChanges(shapes, own.rank)
        self.of_head = LowRankChanges(low_rank.shapes(plain), own.rank)

    @classmethod
    def of(
        cls, encoder: Encoder, whisper: WhisperSizes, head: WordCodeEncoder, **options: Any
    ) -> LiveWordCodes:
        """One that changes nothing yet.

        Args:
            encoder: of Whisper.
            whisper: its sizes.
            head: that gives vectors of its states.
            options: of :class:`LiveSizes`.
        """
        known = together(encoder, head)
        return cls(dataclasses.asdict(whisper), head.config(), known, **options)

    def config(self) -> dict[str, Any]:
        return {
            "whisper": dataclasses.asdict(self.whisper),
            "head": self._head,
            "teacher": self.teacher,
            **dataclasses.asdict(self.sizes),
        }

    def forward(
        self,
        encoder: Encoder,
        head: WordCodeEncoder,
        waveforms: torch.Tensor,
        ahead: int | None = None,
        first: int = 0,
        chunk: int | None = None,
    ) -> LiveVectors:
        """Vectors of whole recordings, as a stream computes them, chunk by chunk.

        Args:
            encoder, head: without the changes.
            waveforms: ``[row, time]`` at 16 kHz, of whole chunks.
            ahead: states after a chunk; :attr:`LiveSizes.ahead` by default.
            first: position of the first state.
            chunk: states that are computed at a time; :attr:`LiveSizes.chunk` by default.
        """
        own = self.sizes
        ahead = own.ahead if ahead is None else ahead
        chunk = own.chunk if chunk is None else chunk
        x = encoder.convolved(spectra(encoder, waveforms))
        count = x.shape[1]
        places = (torch.arange(count, device=x.device) + first) % own.period
        copied, seen, there = self._plan(count, chunk, ahead, x.device)
        x = (x + encoder.positions[places])[:, copied]
        mask = torch.zeros(seen.shape, device=x.device).masked_fill(~seen, -torch.inf)
        for at, layer in enumerate(encoder.layers):
            changed = self.of_encoder.of(layer, f"layers.{at}.")
            x = functional_call(layer, changed, (x,), {"weights": mask})
        x = functional_call(encoder.norm, self.of_encoder.of(encoder.norm, "norm."), (x,))
        chunks = count // chunk
        main, after = x[:, :count], x[:, count:].unflatten(1, (chunks, ahead))
        before = pad(main, (0, 0, own.left, 0)).unfold(1, own.left + chunk, chunk)
        parts = torch.cat([before.transpose(2, 3), after * there[..., None]], 2).flatten(0, 1)
        reading = _Reading(head)
        changed = {f"head.{name}": value for name, value in self.of_head.of(head).items()}
        vectors = functional_call(reading, changed, (parts,)).unflatten(0, (len(x), chunks))
        start, end = own.left // self.every, (own.left + chunk) // self.every
        return LiveVectors(vectors[:, :, start:end].flatten(1, 2), vectors[:, :, end:])

    def _plan(
        self, count: int, chunk: int, ahead: int, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Which states are computed, and which see which.

        Returns:
            ``[token]``, the state of each token: those of the chunks, then those after each chunk;
            ``[token, token]`` bool, which keys a query sees; ``[chunk, ahead]`` bool, whether
            there is such a state after a chunk.
        """
        past = self.sizes.past
        chunks = count // chunk
        states = torch.arange(count, device=device)
        after = torch.arange(1, chunks + 1, device=device)[:, None] * chunk
        after = after + torch.arange(ahead, device=device)
        there = after < count
        of_after = torch.arange(chunks, device=device).repeat_interleave(ahead)
        place = torch.cat([states // chunk, of_after])
        main = torch.arange(len(place), device=device) < count
        state = torch.cat([states, after.clamp(max=count - 1).flatten()])
        asks, asked = place[:, None], place[None]
        recent = state[None] >= asks * chunk - past
        seen = torch.where(main[None], (asked <= asks) & recent, asked == asks)
        seen &= torch.cat([torch.ones_like(states, dtype=torch.bool), there.flatten()])
        seen |= torch.eye(len(place), dtype=torch.bool, device=device)  # none sees nothing
        return state, seen, there


def spectra(encoder: Encoder, waveforms: torch.Tensor) -> torch.Tensor:
    """Log mel spectra ``[row, band, frame]`` of waveforms ``[row, time]`` of whole states.

    As Whisper's, but for the floor, which is below the loudest frame so far, not of all, and for
    silence around the recording, not its mirror image.
    """
    mel = mel_spectra(encoder, pad(waveforms, (HALF, HALF)))[..., :-1]
    return floored(mel, mel.amax(1).cummax(1).values)


def mel_spectra(encoder: Encoder, waveforms: torch.Tensor) -> torch.Tensor:
    """Log10 mel spectra ``[row, band, frame]`` of the frames within ``[row, time]``."""
    frames = waveforms.unfold(1, FFT, HOP)
    power = torch.fft.rfft(frames * encoder.window).abs().square()
    return (encoder.bank @ power.transpose(1, 2)).clamp_min(LEAST).log10()


def floored(mel: torch.Tensor, loudest: torch.Tensor) -> torch.Tensor:
    """Whisper's scale, with a floor below the loudest ``[row, frame]``."""
    return (torch.maximum(mel, loudest[:, None] - RANGE) + 4.0) / 4.0


class _Reading(torch.nn.Module):
    """A head as a function of whole rows of states ``[row, state, width]``."""

    def __init__(self, head: WordCodeEncoder) -> None:
        super().__init__()
        self.head = head

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return encoded(self.head, states)


def encoded(head: WordCodeEncoder, states: torch.Tensor) -> torch.Tensor:
    """Vectors of whole rows of states ``[row, state, width]``."""
    lengths = torch.full((len(states),), states.shape[1], device=states.device)
    return head.encoded(states, lengths)


def together(encoder: Encoder, head: WordCodeEncoder) -> str:
    """Fingerprint of both networks."""
    return fingerprint({**encoder.state_dict(), **head.state_dict()})


KINDS: Kinds[LiveWordCodes] = Kinds(
    "live encoder of word codes",
    {LiveWordCodes.kind: "voicenym.nets.words.word_codes.live_word_codes:LiveWordCodes"},
)
load, save = KINDS.load, KINDS.save


def go_on_from(network: LiveWordCodes, place: Path) -> None:
    """Give a network of :meth:`LiveWordCodes.of` the weights of a trained one.

    Raises:
        VoicenymError: the folder holds none, or one of another teacher or of other sizes.
    """
    known = load(place)
    if known.config() != network.config():
        raise VoicenymError(
            f"{place}: a live encoder of another pipeline, or of other sizes; give one of the "
            "pipeline and with the options of the configuration"
        )
    network.load_state_dict(known.state_dict())
