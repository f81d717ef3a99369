"""Whether a recording is likely of another language than the only one that its recogniser knows.

A recogniser of one language writes down any speech as words of its own: names in the speech are not
found in them, and what they say was not said.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from voicenym.errors import AudioError
from voicenym.transcription.word_recogniser import WordRecogniser


class AssumedLanguage:
    """Checks the first minute of a recording's speech, by the language scores of ``word-codes``
    (:mod:`voicenym.resynthesis.pipeline.language_check`).

    Args:
        name: of the recording, for messages.
        recogniser: of the recording; nothing is checked unless it assumes a language of which there
            are scores.
    """

    def __init__(self, name: str, recogniser: WordRecogniser) -> None:
        from voicenym.resynthesis.pipeline import assembly, language_check

        self._name, self._recogniser = name, recogniser.name
        self._check: language_check.LanguageCheck | None = None
        self._done = True
        if not recogniser.assumes:
            return
        self._content = assembly.opened(assembly.BUNDLED / "ssl", "cpu").content
        scores = self._content.language_scores
        if scores is None or not language_check.same_language(scores.language, recogniser.assumes):
            return
        self._scores, self._done = scores, False
        self._check = language_check.LanguageCheck(self._content)

    @torch.inference_mode()
    def add(self, stretch: npt.NDArray[np.float32]) -> None:
        """Adds a stretch ``[channel, time]`` at 16 kHz in which words were recognised.

        Raises:
            AudioError: a minute of speech is likely of another language.
        """
        if self._done or self._check is None:
            return
        samples = torch.from_numpy(np.ascontiguousarray(stretch))
        for row in samples:  # by channel: the mean of two languages is none
            if bool(row.any()):
                _, found = self._content.with_language_score(row[None])
                self._check.add(found, row[None])
        if self._check.enough:
            self.end()

    def end(self) -> None:
        """The end of the recording, or of its first minute of speech.

        Raises:
            AudioError: the speech is likely of another language.
        """
        from voicenym.resynthesis.pipeline.language_check import is_foreign

        if self._done or self._check is None:
            return
        self._done = True
        if is_foreign(self._scores, self._check.scores):
            own = self._scores.language
            raise AudioError(
                f"{self._name}: the speech is likely not of the only language that "
                f"{self._recogniser} knows ({own}); give a recogniser of several languages, such "
                f"as faster-whisper-small, or --language {own} if it is"
            )
