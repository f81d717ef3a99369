"""Whisper: transformer encoder over mel spectra, and autoregressive text decoder.

Radford et al., "Robust speech recognition via large-scale weak supervision", ICML 2023. The encoder
processes windows of 30 s, zero-padded, into 50 states a second. The decoder is differentiable with
respect to the states, for training and evaluation of modules that modify them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import gelu, pad, scaled_dot_product_attention

from voicenym.dsp.features.mel import filterbank
from voicenym.nets.architectures import Kinds, Network, sizes
from voicenym.nets.words.whisper.whisper_decoding import MOST_TOKENS, Writing, greedy

RATE, FFT, HOP = 16_000, 400, 160
WINDOW = 30 * RATE
"""Samples of an input window."""
EVERY = 2
"""Spectral frames per state."""
STATE = HOP * EVERY
"""Samples per state."""
LEAST, RANGE = 1e-10, 8.0
"""Power floor, and dynamic range of the spectra in powers of ten."""


@dataclass(frozen=True)
class WhisperSizes:
    """Sizes of the network; the defaults are those of ``tiny.en``.

    Args:
        width: of states.
        heads: of attention.
        layers: of the encoder.
        bands: of mel.
        states: of a window.
        tokens: that there are.
        positions: of tokens.
        decoder_layers: 0 for as many as the encoder has.
    """

    width: int = 384
    heads: int = 6
    layers: int = 4
    bands: int = 80
    states: int = WINDOW // STATE
    tokens: int = 51_864
    positions: int = 448
    decoder_layers: int = 0

    def __post_init__(self) -> None:
        given = {**dataclasses.asdict(self), "decoder_layers": self.decoder_layers or self.layers}
        if min(given.values()) < 1 or self.width % self.heads:
            raise ValueError("sizes are 1 at least, and heads divide the width")


class Attention(torch.nn.Module):
    """Multi-head attention; keys have no bias.

    Args:
        width: of states.
        heads: that divide it.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, width, bias=False)
        self.value = torch.nn.Linear(width, width)
        self.out = torch.nn.Linear(width, width)

    def keys_values(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values ``[batch, head, step, width / head]`` of ``[batch, step, width]``."""
        return self._split(self.key(x)), self._split(self.value(x))

    def forward(
        self,
        x: torch.Tensor,
        known: tuple[torch.Tensor, torch.Tensor],
        causal: bool = False,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attention of queries ``[batch, step, width]`` over keys and values of
        :meth:`keys_values`.

        Args:
            x: queries.
            known: keys and values.
            causal: whether it is masked to earlier steps.
            weights: ``[step]`` of the keys, or ``[query, key]``: the logarithm of how many each of
                them stands for.
        """
        queries = self._split(self.query(x))
        mask = None if weights is None else weights.to(queries.dtype)
        mask = mask if mask is None or mask.dim() > 1 else mask[None, None, None]
        found = scaled_dot_product_attention(queries, *known, attn_mask=mask, is_causal=causal)
        return self.out(found.transpose(1, 2).flatten(2))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class Layer(torch.nn.Module):
    """Transformer layer: self-attention, optional cross-attention, feed-forward part.

    Args:
        width, heads: of the attention.
        cross: whether it attends to the encoder's states.
    """

    def __init__(self, width: int, heads: int, cross: bool) -> None:
        super().__init__()
        self.attention_norm = torch.nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.cross_norm = torch.nn.LayerNorm(width) if cross else None
        self.cross = Attention(width, heads) if cross else None
        self.norm = torch.nn.LayerNorm(width)
        self.widen = torch.nn.Linear(width, 4 * width)
        self.narrow = torch.nn.Linear(4 * width, width)

    def forward(
        self,
        x: torch.Tensor,
        context: tuple[torch.Tensor, torch.Tensor] | None = None,
        causal: bool = False,
        past: list[torch.Tensor] | None = None,
        first: int | None = None,
        weights: torch.Tensor | None = None,
        context_weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """``[batch, step, width]`` to the same.

        Args:
            x: the input.
            context: keys and values of the encoder's states.
            causal: whether attention is masked to earlier steps.
            past: cached keys and values of earlier steps, to which those of these are appended.
            first: number of steps that are wanted, the first ones; they attend to all.
            weights: of the steps in self-attention, as of :class:`Attention`.
            context_weights: of the encoder's states, likewise.
        """
        y = self.attention_norm(x)
        known = self.attention.keys_values(y)
        x, y = x[:, :first], y[:, :first]
        if past is not None:
            if past:
                k, v = (torch.cat(pair, 2) for pair in zip(past, known, strict=True))
                known, causal = (k, v), False
            past[:] = known
        x = x + self.attention(y, known, causal, weights)
        if self.cross is not None and self.cross_norm is not None and context is not None:
            x = x + self.cross(self.cross_norm(x), context, weights=context_weights)
        return x + self.narrow(gelu(self.widen(self.norm(x))))


class Encoder(torch.nn.Module):
    """Transformer encoder of mel spectra.

    Args:
        sizes: of the network.
    """

    window: torch.Tensor
    bank: torch.Tensor

    def __init__(self, sizes: WhisperSizes) -> None:
        super().__init__()
        width = sizes.width
        self.states = sizes.states
        self.conv1 = torch.nn.Conv1d(sizes.bands, width, 3, padding=1)
        self.conv2 = torch.nn.Conv1d(width, width, 3, EVERY, padding=1)
        self.positions = torch.nn.Parameter(torch.zeros(sizes.states, width))
        self.layers = torch.nn.ModuleList(
            [Layer(width, sizes.heads, cross=False) for _ in range(sizes.layers)]
        )
        self.norm = torch.nn.LayerNorm(width)
        self.register_buffer("window", torch.hann_window(FFT), persistent=False)
        bank = filterbank(RATE, FFT, sizes.bands, 0.0, RATE / 2)
        self.register_buffer("bank", bank, persistent=False)

    def spectra(self, waveforms: torch.Tensor, states: int | None = None) -> torch.Tensor:
        """Log mel spectra ``[batch, band, 2 * state]`` of waveforms ``[batch, time]`` at 16 kHz,
        zero-padded or cut to so many states; to a whole window, as Whisper is trained, by default.
        """
        whole = (states or self.states) * STATE
        padded = pad(waveforms[:, :whole], (0, whole - min(whole, waveforms.shape[1])))
        power = torch.stft(padded, FFT, HOP, window=self.window, return_complex=True).abs().square()
        mel = (self.bank @ power[..., :-1]).clamp_min(LEAST).log10()
        return (torch.maximum(mel, mel.amax((1, 2), keepdim=True) - RANGE) + 4.0) / 4.0

    def forward(self, spectra: torch.Tensor, first: int | None = None) -> torch.Tensor:
        """States ``[batch, state, width]`` of spectra ``[batch, band, 2 * state]``.

        Args:
            spectra: of a window.
            first: number of states that are wanted, the first ones; the last layer, in which no
                other state attends to one, computes no more. All by default.
        """
        return self.transformed(self.embedded(spectra), first)

    def transformed(
        self, x: torch.Tensor, first: int | None = None, weights: torch.Tensor | None = None
    ) -> torch.Tensor:
        """States of the layers' input ``[batch, state, width]``.

        Args:
            x: the input, with positions.
            first: as of :meth:`forward`.
            weights: of the states, as of :class:`Attention`.
        """
        *layers, last = self.layers
        for layer in layers:
            x = layer(x, weights=weights)
        return self.norm(last(x, first=first, weights=weights))

    def layer_states(self, spectra: torch.Tensor) -> list[torch.Tensor]:
        """States ``[batch, state, width]`` after each layer, the last with its norm."""
        x = self.embedded(spectra)
        found = []
        for layer in self.layers:
            x = layer(x)
            found.append(x)
        found[-1] = self.norm(x)
        return found

    def embedded(self, spectra: torch.Tensor) -> torch.Tensor:
        """Input of the first layer, ``[batch, state, width]``."""
        x = self.convolved(spectra)
        return x + self.positions[: x.shape[1]]

    def convolved(self, spectra: torch.Tensor) -> torch.Tensor:
        """Input of the first layer without positions, ``[batch, state, width]``."""
        return gelu(self.conv2(gelu(self.conv1(spectra)))).transpose(1, 2)


class Decoder(torch.nn.Module):
    """Transformer decoder: next-token logits from states and previous tokens.

    Args:
        sizes: of the network.
    """

    def __init__(self, sizes: WhisperSizes) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(sizes.tokens, sizes.width)
        self.positions = torch.nn.Parameter(torch.zeros(sizes.positions, sizes.width))
        self.layers = torch.nn.ModuleList(
            [
                Layer(sizes.width, sizes.heads, cross=True)
                for _ in range(sizes.decoder_layers or sizes.layers)
            ]
        )
        self.norm = torch.nn.LayerNorm(sizes.width)

    def cross_keys_values(self, states: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Cross-attention keys and values of states ``[batch, state, width]``, of every layer."""
        return [layer.cross.keys_values(states) for layer in self.layers]  # type: ignore[union-attr,operator]

    def forward(
        self,
        tokens: torch.Tensor,
        context: Sequence[tuple[torch.Tensor, torch.Tensor]],
        pasts: list[list[torch.Tensor]] | None = None,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Hidden vectors ``[batch, token, width]`` of tokens ``[batch, token]``; :meth:`scores`
        gives logits.

        Args:
            tokens: previous tokens.
            context: of :meth:`cross_keys_values`.
            pasts: cache of each layer for incremental decoding; empty at first.
            weights: of the states of the context, as of :class:`Attention`.
        """
        first = pasts[0][0].shape[2] if pasts and pasts[0] else 0
        x = self.tokens(tokens) + self.positions[first : first + tokens.shape[1]]
        for i, layer in enumerate(self.layers):
            past = None if pasts is None else pasts[i]
            x = layer(x, context[i], True, past, context_weights=weights)
        return self.norm(x)

    def scores(self, x: torch.Tensor, some: torch.Tensor | None = None) -> torch.Tensor:
        """Logits ``[..., token]`` of vectors ``[..., width]``, of all tokens or of some by their
        numbers.
        """
        weight = self.tokens.weight if some is None else self.tokens.weight[some]
        return x @ weight.T


class Whisper(Network):
    """Whisper network: encoder and decoder.

    Args:
        options: of :class:`WhisperSizes`.

    Raises:
        ValueError: invalid sizes.
    """

    kind = "whisper"

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.sizes = sizes(WhisperSizes, options, "whisper", "a Whisper")
        self.encoder, self.decoder = Encoder(self.sizes), Decoder(self.sizes)

    def config(self) -> dict[str, Any]:
        return dataclasses.asdict(self.sizes)

    def states(self, waveforms: torch.Tensor) -> torch.Tensor:
        """Encoder states ``[batch, state, width]`` of waveforms ``[batch, time]`` at 16 kHz, of one
        window.
        """
        return self.encoder(self.encoder.spectra(waveforms))

    def write(self, states: torch.Tensor, how: Writing, most: int = MOST_TOKENS) -> list[list[int]]:
        """Greedy decoding without a limit on loops; texts as tokens, without prefix and end.

        Args:
            states: ``[batch, state, width]`` of whole windows.
            how: special tokens.
            most: largest number of tokens of a text.
        """
        return [written.tokens for written in greedy(self, states, how, most, repeats=0)]


KINDS: Kinds[Whisper] = Kinds(
    "Whisper", {Whisper.kind: "voicenym.nets.words.whisper.whisper:Whisper"}
)
