"""Language check: a warning where the content encoder's codebook fits the speech badly.

An encoder of word codes turns any language into the sounds of its own. The check is weak: it misses
many recordings of other languages.
"""

from __future__ import annotations

import torch

from voicenym.nets.content.content_encoder import Content

LOUD = 0.1
"""Frames of speech have at least this share of a window's mean power."""
LEAST_SECONDS = 3.0
"""Seconds of speech that a verdict needs."""


class LanguageCheck:
    """Mean misfit of the speech of a recording.

    Args:
        content: the encoder; without :attr:`Content.most_misfit` there is no verdict.
    """

    def __init__(self, content: Content) -> None:
        self._content = content
        self._misfit, self._frames = 0.0, 0

    def add(self, misfit: torch.Tensor | None, samples: torch.Tensor) -> None:
        """Adds frames.

        Args:
            misfit: ``[row, frame]``, of :meth:`Content.with_misfit`.
            samples: ``[row, time]`` that they were made of.
        """
        if misfit is None or self._content.most_misfit is None:
            return
        hop = self._content.hop
        whole = samples.shape[1] // hop
        power = samples[:, : whole * hop].unflatten(1, (whole, hop)).square().mean(2)
        speech = power > LOUD * power.mean(1, keepdim=True)
        self._misfit += float(misfit[:, :whole][speech].double().sum())
        self._frames += int(speech.sum())

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for the user where the language is likely an unknown one."""
        limit = self._content.most_misfit
        seconds = self._frames * self._content.hop / self._content.rate
        if limit is None or seconds < LEAST_SECONDS:
            return ()
        found = self._misfit / self._frames
        if found <= limit:
            return ()
        return (
            f"the speech does not fit the language of the weights, which is English for those that "
            f"come along (misfit {found:.2f}, limit {limit:.2f}): if it is another language, its "
            "words are lost; choose a system that keeps all sounds, such as recast",
        )
