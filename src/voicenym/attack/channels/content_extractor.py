"""Extractor of the content channel: word codes of speech, and statistics of the encoder's states.

Systems that hide voice and prosody still write what was said, and how: each sound as its speaker
says it, among the sounds that a recogniser tells apart. The attacker reads the content again from
the output, with the bundled encoder (:mod:`voicenym.nets.words.word_codes.word_code_content`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from voicenym.errors import AudioError
from voicenym.verification.scoring import Array
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent


class ContentUnits(Verifier):
    """Word codes of a recording, and means and deviations of the states of all layers.

    Vectors are ``[count, code..., mean..., deviation...]``, means and deviations layer by layer.

    Raises:
        AudioError: from :meth:`embed`: a recording without samples.
    """

    name = "content units"

    def __init__(self) -> None:
        from voicenym.nets.checkpoint import version
        from voicenym.nets.content.word_code_bottleneck import BUNDLED

        self._folder = BUNDLED
        self.version = f"2 {version(BUNDLED)}"

    def embed(self, recordings: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
        import torch

        from voicenym.nets.words.word_codes.codes_and_states import codes_and_states

        content = _content(self._folder, self.version)
        found: Any = np.empty(len(recordings), dtype=object)
        for place, samples in enumerate(recordings):
            read = codes_and_states(content, torch.from_numpy(np.ascontiguousarray(samples)))
            codes, states = read.codes[:, 0].numpy(), read.states.numpy()
            if not len(codes):
                raise AudioError("no samples, so that there is no content")
            statistics = np.stack([states.mean(1), states.std(1)], axis=1)
            parts = [np.array([len(codes)]), codes, statistics.ravel()]
            found[place] = np.concatenate(parts).astype(np.float32)
        return found


@lru_cache(maxsize=1)
def _content(folder: Path, version: str) -> WordCodeContent:
    from voicenym.nets.content import content_encoders
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

    found = content_encoders.load(folder)
    assert isinstance(found, WordCodeContent)
    return found


def codes_of(vectors: Sequence[npt.NDArray[np.floating]]) -> list[npt.NDArray[np.int64]]:
    """Codes of each recording."""
    return [np.asarray(x[1 : 1 + int(x[0])]).astype(np.int64) for x in vectors]


def statistics_of(vectors: Sequence[npt.NDArray[np.floating]]) -> Array:
    """Means and deviations of states ``[recording, layer * 2 * element]``."""
    return np.stack([np.asarray(x[1 + int(x[0]) :], dtype=np.float64) for x in vectors])
