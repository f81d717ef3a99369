"""Language scores of some seconds of a live stream, computed a part at a time.

All at once they would take several times as long as a step of the stream, whose output would be
late. A part, one layer of the encoder, is due with each step; a block before it that completes no
step may compute it ahead. The scores count at the same step either way, so that the output does not
depend on the blocks.
"""

from __future__ import annotations

import torch

from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.resynthesis.pipeline.language_check import LanguageCheck


class GradualListening:
    """Scores of samples for a language check.

    Args:
        content: the encoder of whole recordings, which has the scores.
        language: gets the scores when all parts are computed.
        samples: ``[1, time]``.
        speech: ``[1, frame]`` bool, which frames are speech.
    """

    def __init__(
        self,
        content: WordCodeContent,
        language: LanguageCheck,
        samples: torch.Tensor,
        speech: torch.Tensor,
    ) -> None:
        self._language, self._samples, self._speech = language, samples, speech
        self._parts = iter(()) if language.off else content.scores_by_layer(samples)
        self._scores: torch.Tensor | None = None
        self._is_ahead = self._complete = False

    def ahead(self) -> None:
        """Computes the part of the next step, unless it is computed."""
        if not self._is_ahead:
            self._compute()
            self._is_ahead = True

    def step(self) -> bool:
        """Computes the part of a step, unless it is computed; whether that was the last one."""
        self.ahead()
        self._is_ahead = False
        if self._complete and self._scores is not None:
            self._language.add(self._scores, self._samples, self._speech)
        return self._complete

    def finish(self) -> None:
        """Computes all parts that are left."""
        while not self.step():
            pass

    def _compute(self) -> None:
        found = next(self._parts, None)
        if found is None:
            self._complete = True
        else:
            self._scores = found
