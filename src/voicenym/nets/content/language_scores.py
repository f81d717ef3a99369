"""Language scores: log odds that speech is of another language than that of a content encoder, and
that a sound is no speech.

A small ConvNeXt network reads the states of the encoder of one language, and how badly its codebook
fits them. It plays the part of the language model that follows a recogniser of one language in
Zissman, "Comparison of four approaches to automatic language identification of telephone speech",
IEEE Transactions on Speech and Audio Processing 1996. A recording's score is the mean over its
frames of speech. A linear function of the same states tells music and noise from speech.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from voicenym.nets.architectures import Kinds, Network
from voicenym.nets.convnext import Block

PIECE_SECONDS = 2.0
"""Seconds over which scores of music are averaged."""


class LanguageScores(Network):
    """Frame-wise log odds of other languages against the encoder's.

    Args:
        size: elements of a frame of the encoder's states.
        language: that the encoder knows, as a code such as ``en``.
        limit: mean score of long speech above which it is taken for another language.
        spread: added to the limit over the square root of the seconds of speech, since means of
            short speech scatter more.
        least: seconds of speech below which there is no verdict.
        tells_music: whether there are scores of music and noise (:meth:`music`).
        width, inner, blocks, kernel: of the ConvNeXt blocks, at the rate of content frames.

    Raises:
        ValueError: sizes below 1, or an even kernel.
    """

    kind = "language-scores"

    def __init__(
        self,
        size: int,
        language: str = "en",
        limit: float = 0.0,
        spread: float = 0.0,
        least: float = 1.5,
        tells_music: bool = False,
        width: int = 24,
        inner: int = 48,
        blocks: int = 1,
        kernel: int = 5,
    ) -> None:
        super().__init__()
        if min(size, width, inner, blocks, kernel) < 1 or kernel % 2 == 0:
            raise ValueError("sizes are 1 at least, and the kernel is odd")
        self.size, self.language = size, language
        self.limit, self.spread, self.least = limit, spread, least
        self._sizes = {"width": width, "inner": inner, "blocks": blocks, "kernel": kernel}
        self.enter = torch.nn.Linear(size + 1, width)
        self.blocks = torch.nn.ModuleList(
            Block(width, inner, kernel, 0, None, 1.0 / blocks) for _ in range(blocks)
        )
        self.norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, 1)
        self.of_music = torch.nn.Linear(size, 1) if tells_music else None

    def config(self) -> dict[str, Any]:
        return {
            "size": self.size,
            "language": self.language,
            "limit": self.limit,
            "spread": self.spread,
            "least": self.least,
            **({} if self.of_music is None else {"tells_music": True}),
            **self._sizes,
        }

    def forward(self, states: torch.Tensor, misfit: torch.Tensor) -> torch.Tensor:
        """Scores ``[batch, frame]``, positive for other languages.

        Args:
            states: ``[batch, frame, element]``.
            misfit: ``[batch, frame]``; both of
                :meth:`voicenym.nets.content.content_encoder.Content.states_and_misfits`.
        """
        x = self.enter(torch.cat([states, misfit[:, :, None]], dim=2))
        for block in self.blocks:
            x = block(x, x.new_zeros(len(x), 1, 0))
        return self.head(self.norm(x))[:, :, 0]

    def music(self, states: torch.Tensor) -> torch.Tensor:
        """Log odds ``[batch, frame]`` that a sound is music or noise and not speech.

        They are for means over :data:`PIECE_SECONDS`; 0 and above is music or noise.

        Args:
            states: ``[batch, frame, element]``.

        Raises:
            ValueError: without ``tells_music``.
        """
        if self.of_music is None:
            raise ValueError("these language scores do not tell music from speech")
        return self.of_music(states)[:, :, 0]

    def limit_for(self, seconds: float) -> float:
        """Highest mean score of so many seconds of speech that counts as the encoder's language."""
        return self.limit + self.spread / math.sqrt(seconds)


KINDS: Kinds[LanguageScores] = Kinds(
    "language scores",
    {LanguageScores.kind: "voicenym.nets.content.language_scores:LanguageScores"},
)
make, save, load = KINDS.make, KINDS.save, KINDS.load
