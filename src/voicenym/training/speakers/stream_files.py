"""Inputs of a two-branch encoder, computed once and stored in half precision in files.

The frozen network does not change, so that its states of a recording are computed once; a training
step then only computes the small branches. The files are as private as the speech of which they are
computed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import torch

from voicenym.corpus.recording import RATE, Recording
from voicenym.errors import VoicenymError
from voicenym.nets.speakers.ecapa import BANDS
from voicenym.nets.speakers.two_branch import EVERY, TwoBranch
from voicenym.private import private_folder, write_private
from voicenym.training.speech.speech_cache import Utterance

Streams = tuple[np.ndarray, np.ndarray]
"""Filterbanks ``[2 * state, 80]`` and frozen states ``[state, layer, width]``."""
LONGEST = 30
"""Longest used part of a recording in seconds; the cost of attention grows with its square."""


@dataclass(frozen=True)
class StreamFile:
    """Both inputs of a recording.

    Args:
        recording: of the inputs.
        path: of the numbers, float16 ``[state, 160 + layer * width]`` in NumPy's format.
        layers, width: of the frozen states.
        length: in states.
    """

    recording: Recording
    path: Path
    layers: int
    width: int
    length: int

    @property
    def speaker(self) -> str:
        return self.recording.speaker

    def read(self, start: int = 0, count: int | None = None) -> Streams:
        """At most ``count`` states from ``start`` on, with their filterbanks, float16."""
        whole = np.load(self.path, mmap_mode="r", allow_pickle=False)
        part = np.array(whole[start : None if count is None else start + count])
        fbank, states = np.split(part, [EVERY * BANDS], axis=1)
        return fbank.reshape(-1, BANDS), states.reshape(-1, self.layers, self.width)


class StreamFiles:
    """A folder of such files.

    Args:
        folder: created if missing, readable by its owner alone.
        encoder: of these inputs; the weights of its frozen network must exist.

    Raises:
        DependencyError, VoicenymError: as
            :meth:`voicenym.nets.speakers.two_branch.TwoBranch.source`.
    """

    def __init__(self, folder: Path, encoder: TwoBranch) -> None:
        self._folder = private_folder(folder, "features of speech")
        self._encoder = encoder
        self._front = f"{encoder.source().digest} {encoder.layers}"

    def fill(
        self, utterances: Sequence[Utterance], progress: Callable[[int], None] = lambda done: None
    ) -> list[StreamFile]:
        """Files of utterances, in their order; existing files are not computed again.

        Raises:
            VoicenymError: the disk is full.
        """
        return list(self._filled(utterances, progress))

    def _filled(
        self, utterances: Sequence[Utterance], progress: Callable[[int], None]
    ) -> Iterator[StreamFile]:
        layers, width = len(self._encoder.layers), self._encoder.width
        for utterance in utterances:
            name = hashlib.sha256(f"{utterance.path.name} {self._front}".encode()).hexdigest()
            path = self._folder / f"{name}.npy"
            if not path.is_file():
                self._compute(utterance, path)
            progress(1)
            length = len(np.load(path, mmap_mode="r", allow_pickle=False))
            yield StreamFile(utterance.recording, path, layers, width, length)

    @torch.inference_mode()
    def _compute(self, utterance: Utterance, path: Path) -> None:
        samples = torch.from_numpy(utterance.samples(0, LONGEST * RATE))[None]
        device = next(self._encoder.parameters()).device
        fbank, states = (found[0].cpu() for found in self._encoder.streams(samples.to(device)))
        count = states.shape[1]
        missing = EVERY * count - len(fbank)
        fbank = torch.cat([fbank, fbank[-1:].expand(missing, -1)]).reshape(count, EVERY * BANDS)
        both = torch.cat([fbank, states.transpose(0, 1).flatten(1)], dim=1)
        content = BytesIO()
        np.save(content, both.half().numpy())
        try:
            write_private(path, content.getvalue())
        except OSError as error:
            raise VoicenymError(
                f"{path.parent}: cannot keep features here ({error.strerror}); free some space, "
                "or choose another folder"
            ) from error
