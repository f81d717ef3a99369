"""Anonymized sound of the people who are hidden in a recording, in bounded memory.

The pieces of a voice are collected with some context, joined to groups of half a minute or more,
and anonymized together under the voice's pseudonym, so that a system that measures its input has
enough of it. Anonymized pieces wait in a temporary file without a name.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from voicenym.audio.atomic import write_failed
from voicenym.corpus.border_fades import Piece
from voicenym.corpus.fallback import refused
from voicenym.errors import AudioError

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer, Refusal
    from voicenym.corpus.near_original import NearOriginalCheck
    from voicenym.pseudonym import Pseudonym

Block = npt.NDArray[np.float32]
CONTEXT_SECONDS = 0.25
"""Sound on either side of a piece that the system gets, too."""
GROUP_SECONDS = 30.0
"""Length of pieces from which they are anonymized together."""
LONGEST_SECONDS = 60.0
"""Longest piece; a longer one is divided evenly."""
RAMP_SECONDS = 0.01
MOST_HELD = 1 << 26
"""Samples of all voices that are held; the largest group is anonymized where there are more."""


def divided(pieces: Sequence[Piece], rate: int) -> list[Piece]:
    """Pieces of at most :data:`LONGEST_SECONDS`."""
    found = []
    for piece in pieces:
        parts = max(1, -(-(piece.end - piece.start) // round(LONGEST_SECONDS * rate)))
        edges = np.linspace(piece.start, piece.end, parts + 1).round().astype(int).tolist()
        found += [Piece(a, b, piece.voice) for a, b in pairwise(edges)]
    return found


class HiddenVoices:
    """Collects, anonymizes and gives the hidden pieces of a recording.

    Args:
        system: the anonymizer, which keeps the length of its input.
        pseudonyms: by voice.
        pieces: in order, without overlap; those without a voice are left out.
        rate: in Hz.
        channels: of the recording.
        frames: its samples.
        fade: samples after a piece's end that may be asked for.
        name: of the recording, for messages.
        fallback: the anonymizer of groups that the system refuses; None: that is an error.
        folder: for the temporary file.
    """

    def __init__(
        self,
        system: Anonymizer,
        pseudonyms: Mapping[str, Pseudonym],
        pieces: Sequence[Piece],
        rate: int,
        channels: int,
        frames: int,
        fade: int,
        name: str,
        fallback: Anonymizer | None = None,
        folder: Path | None = None,
    ) -> None:
        self._system, self._fallback, self._pseudonyms = system, fallback, pseudonyms
        self._pieces, self._rate, self._channels, self._name = pieces, rate, channels, name
        self._fade = fade
        context = max(fade, round(CONTEXT_SECONDS * rate))
        self._windows = [(max(0, p.start - context), min(frames, p.end + context)) for p in pieces]
        self._coming = [i for i, piece in enumerate(pieces) if piece.voice is not None]
        self._open: dict[int, list[Block]] = {}
        self._groups: dict[str, list[tuple[int, Block]]] = {}
        self._held = 0
        self._place = 0
        self._file = tempfile.TemporaryFile(dir=folder, prefix="voicenym-")  # noqa: SIM115
        self._where: dict[int, int] = {}
        self._checks: dict[tuple[str, str], NearOriginalCheck] = {}
        self.refusals: dict[str, Refusal] = {}
        self.warnings: dict[str, None] = {}

    def push(self, block: Block) -> None:
        """Adds the next block ``[channel, time]`` of the original."""
        start, end = self._place, self._place + block.shape[1]
        self._place = end
        while self._coming and self._windows[self._coming[0]][0] < end:
            self._open[self._coming.pop(0)] = []
        for index in sorted(self._open):
            first, last = self._windows[index]
            part = block[:, max(0, first - start) : max(0, last - start)]
            self._open[index].append(part.copy())
            self._held += part.size
            if last <= end:
                voice = self._pieces[index].voice
                assert voice is not None
                whole = np.concatenate(self._open.pop(index), axis=1)
                group = self._groups.setdefault(voice, [])
                group.append((index, whole))
                if _length(group) >= GROUP_SECONDS * self._rate:
                    self._anonymize(voice)
        while self._held > MOST_HELD and self._groups:
            self._anonymize(max(self._groups, key=lambda v: (_length(self._groups[v]), v)))

    def finish(self) -> None:
        """Anonymizes what is left and compares all voices with their originals.

        Raises:
            AudioError: an output is nearly its input, or the recording ended too early.
        """
        if self._open or self._coming:
            raise AudioError(f"{self._name}: ended earlier than before; it may have been changed")
        for voice in sorted(self._groups):
            self._anonymize(voice)
        for check in self._checks.values():
            check.finish()

    def read(self, index: int, start: int, end: int) -> Block:
        """Anonymized samples ``[channel, time]`` of a piece, counted from its start."""
        self._file.seek(4 * self._channels * (self._where[index] + start))
        data = self._file.read(4 * self._channels * (end - start))
        return np.frombuffer(data, np.float32).reshape(-1, self._channels).T

    def close(self) -> None:
        """Removes the temporary file."""
        self._file.close()

    def _anonymize(self, voice: str) -> None:
        group = self._groups.pop(voice)
        ramp = round(RAMP_SECONDS * self._rate)
        faded = [self._ramped(index, sound, ramp) for index, sound in group]
        original = torch.from_numpy(np.concatenate(faded, axis=1))
        made = self._made(voice, original).numpy()
        self._held -= sum(sound.size for _, sound in group)
        place = 0
        for index, sound in group:
            piece, (first, _) = self._pieces[index], self._windows[index]
            start = place + piece.start - first
            stop = place + sound.shape[1]
            own = made[:, start : min(stop, start + piece.end - piece.start + self._fade)]
            missing = piece.end - piece.start + self._fade - own.shape[1]
            own = np.pad(own, ((0, 0), (0, missing)))  # the end of the recording
            self._store(index, own)
            place = stop

    def _store(self, index: int, sound: Block) -> None:
        """Appends a piece's ``[channel, time]`` to the temporary file.

        Raises:
            AudioError: the disk is full.
        """
        try:
            self._where[index] = self._file.seek(0, 2) // (4 * self._channels)
            self._file.write(np.ascontiguousarray(sound.T, dtype=np.float32).tobytes())
            self._file.flush()
        except OSError as error:
            raise write_failed(f"{self._name}: temporary file", error) from None

    def _ramped(self, index: int, sound: Block, ramp: int) -> Block:
        """Sound whose context begins and ends softly, so that joints are no clicks."""
        piece, (first, last) = self._pieces[index], self._windows[index]
        out = sound.copy()
        up = np.linspace(0.0, 1.0, ramp + 2, dtype=np.float32)[1:-1]
        if piece.start - first >= ramp:
            out[:, :ramp] *= up
        if last - piece.end >= ramp:
            out[:, sound.shape[1] - ramp :] *= up[::-1]
        return out

    def _made(self, voice: str, original: torch.Tensor) -> torch.Tensor:
        """Anonymized ``[channel, time]`` of the same length."""
        from voicenym.corpus.near_original import NearOriginalCheck

        with torch.inference_mode():
            used, profile = self._system, self._profile(self._system, original)
            if (refusal := used.refusal(profile)) is not None:
                if self._fallback is None:
                    raise refused(self._name, refusal)
                self.refusals.setdefault(voice, refusal)
                used = self._fallback
                profile = self._profile(used, original)
                if (again := used.refusal(profile)) is not None:
                    raise refused(self._name, again)
            stream = used.stream(self._pseudonyms[voice], self._rate, self._channels, profile)
            made = stream.finish(original)
        if made.shape != original.shape:
            raise AudioError(
                f"{self._name}: {used.card.name} is set to change how fast people speak, which "
                "cannot be done to one of several; leave out --set rate=true"
            )
        self.warnings.update(dict.fromkeys(stream.warnings))
        key = (voice, used.card.name)
        if key not in self._checks:
            self._checks[key] = NearOriginalCheck(used, self._name, self._rate, self._channels)
        self._checks[key].push_input(original)
        self._checks[key].push_output(made)
        return made

    def _profile(self, system: Anonymizer, original: torch.Tensor) -> object:
        if not system.reads_ahead:
            return None
        profiling = system.profiling(self._rate, self._channels)
        profiling.push(original)
        return profiling.result()


def _length(group: Sequence[tuple[int, Block]]) -> int:
    return sum(sound.shape[1] for _, sound in group)
