"""Encoder of word codes for live streams: Whisper's encoder, changed so that it looks a few states
ahead and computes each state once.

Whisper's states attend to a whole window, so that a live stream computes a window of some seconds
again for each step. Here states form chunks. A chunk attends to the states of some seconds before
it and to ``ahead`` states after it; those after it are computed again, as part of their own chunk,
when it is their turn (as in Emformer: Shi et al., "Emformer: efficient memory transformer based
acoustic model for low latency streaming speech recognition", ICASSP 2021). Positions repeat after
``period`` states, since a stream has no end. Low-rank changes of the weights (Hu et al., "LoRA:
low-rank adaptation of large language models", ICLR 2022) and a head of its own, an encoder of word
codes, are trained so that codes are those of whole recordings.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import gelu, pad

from voicenym.errors import VoicenymError
from voicenym.nets.architectures import Kinds, Network, sizes
from voicenym.nets.checkpoint import fingerprint
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper import FFT, HOP, LEAST, RANGE, Encoder, WhisperSizes

HALF = FFT // 2
"""Samples after the middle of a spectral frame."""
CHANGED = {
    "query": "attention.query",
    "key": "attention.key",
    "value": "attention.value",
    "out": "attention.out",
    "widen": "widen",
    "narrow": "narrow",
}
"""Linear layers of a transformer layer whose weights are changed, by the names of the changes."""
NORMS = ("attention_norm", "norm")
"""Its norms, which are replaced."""


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


class Change(torch.nn.Module):
    """Low-rank change of a matrix ``[outputs, inputs]``; zero at first.

    Args:
        inputs, outputs: of the matrix.
        rank: of the change.
    """

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__()
        self.down = torch.nn.Parameter(torch.randn(rank, inputs) / math.sqrt(inputs))
        self.up = torch.nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The change's product with ``[..., input]``."""
        return torch.nn.functional.linear(torch.nn.functional.linear(x, self.down), self.up)


class LiveWordCodes(Network):
    """Changes of Whisper's encoder for live streams, and the head that gives vectors of codes.

    Args:
        whisper: options of :class:`~voicenym.nets.words.whisper.WhisperSizes`.
        head: options of :class:`~voicenym.nets.content.word_code_encoder.WordCodeEncoder`.
        teacher: fingerprint of the encoder of whole recordings whose vectors the head gives; empty
            if it is not known.
        options: of :class:`LiveSizes`.

    Raises:
        ValueError: sizes that do not fit each other.
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
        self.teacher = teacher
        self.sizes = sizes(LiveSizes, options, "live", "a live encoder")
        self.whisper = sizes(WhisperSizes, whisper, "whisper", "a Whisper")
        self.head = WordCodeEncoder(**head)
        every, own = self.head.sizes.every, self.sizes
        if self.head.sizes.states != self.whisper.width or self.head.sizes.normalised:
            raise ValueError("the head reads states of another width, or needs whole recordings")
        if any(size % every for size in (own.chunk, own.ahead, own.left)):
            raise ValueError(
                f"chunk, ahead and left are multiples of {every}, the states of a code"
            )
        if own.period > self.whisper.states:
            raise ValueError(f"{own.period} positions, and Whisper has {self.whisper.states}")
        width = self.whisper.width
        inputs = {"narrow": 4 * width}
        outputs = {"widen": 4 * width}
        self.changes = torch.nn.ModuleList(
            [
                torch.nn.ModuleDict(
                    {
                        name: Change(inputs.get(name, width), outputs.get(name, width), own.rank)
                        for name in CHANGED
                    }
                )
                for _ in range(self.whisper.layers)
            ]
        )
        norms = len(NORMS) * self.whisper.layers + 1
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(width) for _ in range(norms)])

    @classmethod
    def of(
        cls, encoder: Encoder, whisper: WhisperSizes, teacher: WordCodeEncoder, **options: Any
    ) -> LiveWordCodes:
        """A new one with the weights of the encoders of whole recordings.

        Args:
            encoder: of Whisper.
            whisper: its sizes.
            teacher: that gives vectors of its states.
            options: of :class:`LiveSizes`.
        """
        plain = {**teacher.config(), "accents": 0, "silence": -1}
        known = fingerprint(teacher.state_dict())
        made = cls(dataclasses.asdict(whisper), plain, known, **options)
        made.head.load_state_dict(teacher.state_dict(), strict=False)  # but for its accents
        for one, norm in zip(made.norms, _norms(encoder), strict=True):
            one.load_state_dict(norm.state_dict())
        return made

    def config(self) -> dict[str, Any]:
        return {
            "whisper": dataclasses.asdict(self.whisper),
            "head": self.head.config(),
            "teacher": self.teacher,
            **dataclasses.asdict(self.sizes),
        }

    def changed(self, encoder: Encoder) -> Encoder:
        """A copy of an encoder with the changes in its weights."""
        made = copy.deepcopy(encoder)
        with torch.no_grad():
            for at, layer in enumerate(made.layers):
                for name, place in CHANGED.items():
                    change = self._change(at, name)
                    weight = layer.get_submodule(place).weight
                    weight += change.up @ change.down  # type: ignore[operator]
            for norm, own in zip(_norms(made), self.norms, strict=True):
                norm.load_state_dict(own.state_dict())
        return made.eval()

    def forward(
        self, encoder: Encoder, waveforms: torch.Tensor, ahead: int | None = None, first: int = 0
    ) -> LiveVectors:
        """Vectors of whole recordings, as a stream computes them, chunk by chunk.

        Args:
            encoder: of Whisper, without the changes.
            waveforms: ``[row, time]`` at 16 kHz, of whole chunks.
            ahead: states after a chunk; :attr:`LiveSizes.ahead` by default.
            first: position of the first state.
        """
        own = self.sizes
        ahead = own.ahead if ahead is None else ahead
        x = encoder.convolved(spectra(encoder, waveforms))
        count = x.shape[1]
        places = (torch.arange(count, device=x.device) + first) % own.period
        copied, seen, there = self._plan(count, ahead, x.device)
        x = (x + encoder.positions[places])[:, copied]
        mask = torch.zeros(seen.shape, device=x.device).masked_fill(~seen, -torch.inf)
        for at, layer in enumerate(encoder.layers):
            x = self._layer(x, at, layer, mask)
        x = self.norms[-1](x)
        chunks = count // own.chunk
        main, after = x[:, :count], x[:, count:].unflatten(1, (chunks, ahead))
        before = pad(main, (0, 0, own.left, 0)).unfold(1, own.left + own.chunk, own.chunk)
        parts = torch.cat([before.transpose(2, 3), after * there[..., None]], 2)
        vectors = encoded(self.head, parts.flatten(0, 1)).unflatten(0, (len(x), chunks))
        every = self.head.sizes.every
        start, end = own.left // every, (own.left + own.chunk) // every
        return LiveVectors(vectors[:, :, start:end].flatten(1, 2), vectors[:, :, end:])

    def _layer(
        self, x: torch.Tensor, at: int, layer: torch.nn.Module, mask: torch.Tensor
    ) -> torch.Tensor:
        """``[row, state, width]`` after a changed layer."""

        def linear(name: str, y: torch.Tensor) -> torch.Tensor:
            return layer.get_submodule(CHANGED[name])(y) + self._change(at, name)(y)  # type: ignore[no-any-return]

        def heads(y: torch.Tensor) -> torch.Tensor:
            return y.unflatten(2, (self.whisper.heads, -1)).transpose(1, 2)

        y = self.norms[len(NORMS) * at](x)
        q, k, v = (heads(linear(name, y)) for name in ("query", "key", "value"))
        found = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(q))
        x = x + linear("out", found.transpose(1, 2).flatten(2))
        y = self.norms[len(NORMS) * at + 1](x)
        return x + linear("narrow", gelu(linear("widen", y)))

    def _change(self, at: int, name: str) -> Change:
        """Change of a linear layer of the transformer layer of a number."""
        changes = self.changes[at]
        assert isinstance(changes, torch.nn.ModuleDict)
        change = changes[name]
        assert isinstance(change, Change)
        return change

    def _plan(
        self, count: int, ahead: int, device: torch.device
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Which states are computed, and which see which.

        Returns:
            ``[token]``, the state of each token: those of the chunks, then those after each chunk;
            ``[token, token]`` bool, which keys a query sees; ``[chunk, ahead]`` bool, whether
            there is such a state after a chunk.
        """
        own = self.sizes
        chunks = count // own.chunk
        states = torch.arange(count, device=device)
        after = torch.arange(1, chunks + 1, device=device)[:, None] * own.chunk
        after = after + torch.arange(ahead, device=device)
        there = after < count
        of_after = torch.arange(chunks, device=device).repeat_interleave(ahead)
        chunk = torch.cat([states // own.chunk, of_after])
        main = torch.arange(len(chunk), device=device) < count
        state = torch.cat([states, after.clamp(max=count - 1).flatten()])
        asks, asked = chunk[:, None], chunk[None]
        recent = state[None] >= asks * own.chunk - own.past
        seen = torch.where(main[None], (asked <= asks) & recent, asked == asks)
        seen &= torch.cat([torch.ones_like(states, dtype=torch.bool), there.flatten()])
        seen |= torch.eye(len(chunk), dtype=torch.bool, device=device)  # none sees nothing
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


def encoded(head: WordCodeEncoder, states: torch.Tensor) -> torch.Tensor:
    """Vectors of whole rows of states ``[row, state, width]``."""
    lengths = torch.full((len(states),), states.shape[1], device=states.device)
    return head.encoded(states, lengths)


def _norms(encoder: Encoder) -> list[torch.nn.Module]:
    """Norms of an encoder, in the order of :attr:`LiveWordCodes.norms`."""
    found = [layer.get_submodule(name) for layer in encoder.layers for name in NORMS]
    return [*found, encoder.norm]


KINDS: Kinds[LiveWordCodes] = Kinds(
    "live encoder of word codes",
    {LiveWordCodes.kind: "voicenym.nets.words.live_word_codes:LiveWordCodes"},
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
