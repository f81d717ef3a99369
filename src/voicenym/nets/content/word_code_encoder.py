"""Encoder of word codes: Whisper's states to the vectors that a codebook quantises.

By itself it is a network of native codes: trained so that the nearest entries to what it gives for
accented speech are the codes of a native reading of the same words, for the codebook, the decoder
and the synthesizers of other word codes
(:class:`~voicenym.nets.content.word_code_bottleneck.WordCodes`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch

from voicenym.nets.architectures import Kinds, Network, sizes
from voicenym.nets.content import drawn_accent
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.nets.convnext import Block, in_frames
from voicenym.nets.masked_batch import valid
from voicenym.nets.streaming import Conv

STATES_PER_SECOND = 50.0
"""Rate of Whisper's encoder states."""
LEAST_VARIANCE = 1e-4
"""Of a normalised element, in the scale of the layer norm before it."""


@dataclass(frozen=True)
class WordCodesSizes:
    """Sizes of the bottleneck.

    Args:
        states: elements of the encoder's states.
        window: states of a window.
        width: channels of the hidden layers.
        inner: channels within a block.
        kernel: of the blocks, odd, in states.
        before, after: blocks on either side.
        every: states per code; 2 gives 25 codes a second.
        code: elements of an entry.
        entries: of a codebook.
        books: residual codebooks.
        normalised: each recording's mean and deviation of every element are removed before the
            codes, as part of what tells speakers is in them.
    """

    states: int = 384
    window: int = 1500
    width: int = 256
    inner: int = 512
    kernel: int = 7
    before: int = 1
    after: int = 3
    every: int = 2
    code: int = 64
    entries: int = 512
    books: int = 1
    normalised: bool = False

    def __post_init__(self) -> None:
        if min(dataclasses.astuple(self)[:-1]) < 1 or self.kernel % 2 == 0:
            raise ValueError("sizes are 1 at least, and the kernel is odd")
        if self.window % self.every or self.states % 2:
            raise ValueError("every divides the window, and states have an even number of elements")


class WordCodeEncoder(Network):
    """Encoder of word codes.

    Args:
        codebook: digest of the codebook that its vectors are for
            (:meth:`~voicenym.nets.content.word_code_bottleneck.WordCodes.codebook_digest`); empty
            if it has one of its own, or if that is not known.
        options: of :class:`WordCodesSizes`; those of the decoder and of the codebooks are kept for
            the configuration alone.

    Raises:
        ValueError: invalid sizes.
    """

    kind = "word-code-encoder"
    directions: torch.Tensor
    centre: torch.Tensor

    def __init__(
        self, codebook: str = "", accents: int = 0, silence: int = -1, **options: Any
    ) -> None:
        super().__init__()
        self.codebook, self.silence = codebook, silence
        size = self.sizes = sizes(WordCodesSizes, options, "word-codes", "codes of words")
        self.norm = torch.nn.LayerNorm(size.states)
        self.enter = torch.nn.Linear(size.states, size.width)
        self.before = self.blocks(size.before)
        # as many states on either side
        self.slow = Conv(size.width, size.width, size.every + 2, stride=size.every)
        self.narrow = torch.nn.Linear(size.width, size.code)
        self.even = torch.nn.LayerNorm(size.code)
        self.accents = accents
        if accents:
            self.register_buffer("directions", torch.zeros(accents, size.code))
            self.register_buffer("centre", torch.zeros(size.code))

    def config(self) -> dict[str, Any]:
        drawn = {"accents": self.accents, "silence": self.silence} if self.accents else {}
        return {"codebook": self.codebook, **drawn, **dataclasses.asdict(self.sizes)}

    def blocks(self, count: int) -> torch.nn.ModuleList:
        """New ConvNeXt blocks."""
        size = self.sizes
        return torch.nn.ModuleList(
            [
                Block(size.width, size.inner, size.kernel, 0, None, 1.0 / max(1, count))
                for _ in range(count)
            ]
        )

    @property
    def rate(self) -> float:
        """Codes per second, of each codebook."""
        return STATES_PER_SECOND / self.sizes.every

    def counts(self, lengths: torch.Tensor) -> torch.Tensor:
        """Number of codes of so many states."""
        return lengths.add(self.sizes.every - 1).div(self.sizes.every, rounding_mode="floor")

    def encoded(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Input of the quantiser ``[batch, code, element]`` for states ``[batch, state, size]``."""
        rest = -states.shape[1] % self.sizes.every
        states = torch.nn.functional.pad(states, (0, 0, 0, rest))
        inside = valid(lengths, states.shape[1])[:, :, None]
        x = self.norm(states)
        if self.sizes.normalised:
            x = standardised(x, inside)
        x = self.enter(x) * inside
        for block in self.before:
            x = block(x, x.new_zeros(len(x), 1, 0)) * inside
        x = self.slow(x.transpose(1, 2)).transpose(1, 2)
        return self.even(self.narrow(x))

    def encoded_codes(self, states: torch.Tensor, wanted: slice) -> torch.Tensor:
        """:meth:`encoded` of some codes of whole rows, up to rounding, at the cost of what these
        depend on.

        Args:
            states: ``[batch, state, size]``, of whole codes.
            wanted: codes.

        Raises:
            ValueError: an encoder that needs whole recordings.
        """
        every, count = self.sizes.every, states.shape[1] // self.sizes.every
        if self.sizes.normalised:
            raise ValueError("this encoder normalises states by whole recordings")
        first, end, _ = wanted.indices(count)
        start, stop = max(0, first - 1), min(count, end + 1)  # codes whose states are read
        x = self.enter(self.norm(states))
        x = in_frames(self.before, x, x.new_zeros(len(x), 1, 0), slice(start * every, stop * every))
        x = self.slow(x.transpose(1, 2)).transpose(1, 2)[:, first - start :][:, : end - first]
        return self.even(self.narrow(x))

    def drawn(self, numbers: torch.Tensor) -> DrawnAccent:
        """Accents that standard normal numbers ``[row, accents + code]`` stand for.

        Raises:
            ValueError: an encoder without directions.
        """
        if not self.accents:
            raise ValueError("this encoder has no directions of accents")
        return drawn_accent.drawn(self.directions, numbers)

    def with_accents(
        self, directions: torch.Tensor, centre: torch.Tensor, silence: int
    ) -> WordCodeEncoder:
        """A copy with directions of accents.

        Args:
            directions: ``[direction, code]``
                (:func:`voicenym.nets.content.drawn_accent.speaker_directions`).
            centre: ``[code]``, mean vector of speech.
            silence: code of silent places.
        """
        made = WordCodeEncoder(
            self.codebook, len(directions), silence, **dataclasses.asdict(self.sizes)
        )
        state = {**self.state_dict(), "directions": directions, "centre": centre}
        made.load_state_dict(state)
        return made.eval()


def standardised(x: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
    """Elements with mean 0 and deviation 1 over the time of each row.

    Args:
        x: ``[row, time, element]``.
        inside: ``[row, time, 1]``, what counts.
    """
    count = inside.sum(1, keepdim=True).clamp_min(1)
    centred = x - (x * inside).sum(1, keepdim=True) / count
    variance = (centred.square() * inside).sum(1, keepdim=True) / count
    return centred * variance.clamp_min(LEAST_VARIANCE).rsqrt()


KINDS: Kinds[WordCodeEncoder] = Kinds(
    "encoder of word codes",
    {WordCodeEncoder.kind: "voicenym.nets.content.word_code_encoder:WordCodeEncoder"},
)
load, save = KINDS.load, KINDS.save
