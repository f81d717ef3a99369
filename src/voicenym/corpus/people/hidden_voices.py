"""Anonymized sound of the people who are hidden in a recording, in bounded memory.

The pieces of a voice are collected with some context, joined to groups of half a minute or more,
and anonymized together under the voice's pseudonym, so that a system that measures its input has
enough of it. Anonymized groups wait in a file: without a name, or in one from which the next run
takes those that are finished if this one is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from voicenym.anonymizer import Refusal
from voicenym.audio.atomic import write_failed
from voicenym.corpus.batches.fallback import refused
from voicenym.corpus.people.border_fades import Piece
from voicenym.errors import AudioError
from voicenym.kept_work import KeptPart, KeptWork, digest_of

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer
    from voicenym.corpus.nearness.near_original import NearOriginalCheck
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


@dataclass(frozen=True)
class _Made:
    """A group ``[channel, time]`` anonymized, with the system's warnings and its refusal."""

    sound: Block
    warnings: tuple[str, ...]
    refusal: Refusal | None


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
        kept: file of the groups; it is not closed here.
        tag: of a digest of a group's sound, so that the file does not tell of which sound it is.
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
        fallback: Anonymizer | None,
        kept: KeptWork,
        tag: Callable[[str], str],
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
        self._kept, self._tag = kept, tag
        self._where: dict[int, tuple[int, int]] = {}
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
        place, length = self._where[index]
        size = 4 * self._channels
        data = self._kept.read(place + size * start, size * (max(start, min(end, length)) - start))
        found = np.frombuffer(data, np.float32).reshape(-1, self._channels).T
        return np.pad(found, ((0, 0), (0, end - start - found.shape[1])))  # the recording's end

    def _anonymize(self, voice: str) -> None:
        group = self._groups.pop(voice)
        ramp = round(RAMP_SECONDS * self._rate)
        faded = [self._ramped(index, sound, ramp) for index, sound in group]
        original = np.ascontiguousarray(np.concatenate(faded, axis=1), dtype=np.float32)
        made, part = self._known(voice, original)
        self._held -= sum(sound.size for _, sound in group)
        self.warnings.update(dict.fromkeys(made.warnings))
        if made.refusal is not None:
            self.refusals.setdefault(voice, made.refusal)
        self._compare(voice, made, original)
        place = 0
        for index, sound in group:
            piece, (first, _) = self._pieces[index], self._windows[index]
            start = place + piece.start - first
            place += sound.shape[1]
            length = min(place - start, piece.end - piece.start + self._fade)
            self._where[index] = part.place + 4 * self._channels * start, length

    def _known(self, voice: str, original: Block) -> tuple[_Made, KeptPart]:
        """A group that an interrupted run anonymized, or that is anonymized now; and where it is.

        Raises:
            AudioError: the disk is full.
        """
        key = self._tag(digest_of(voice, original.tobytes(), repr(original.shape)))
        part = self._kept.take(key)
        if part is not None:
            data = self._kept.read(part.place, part.size)
            sound = np.frombuffer(data, np.float32).reshape(-1, self._channels).T.copy()
            refusal = part.facts["refusal"]
            return _Made(
                sound, tuple(part.facts["warnings"]), None if refusal is None else Refusal(*refusal)
            ), part
        made = self._made(voice, torch.from_numpy(original))
        facts = {"warnings": list(made.warnings), "refusal": made.refusal}
        data = np.ascontiguousarray(made.sound.T, dtype=np.float32).tobytes()
        try:
            return made, self._kept.add(key, facts, data)
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

    def _made(self, voice: str, original: torch.Tensor) -> _Made:
        """A group anonymized."""
        with torch.inference_mode():
            used, profile = self._system, self._profile(self._system, voice, original)
            refusal = used.refusal(profile)
            if refusal is not None:
                if self._fallback is None:
                    raise refused(self._name, refusal)
                used = self._fallback
                profile = self._profile(used, voice, original)
                if (again := used.refusal(profile)) is not None:
                    raise refused(self._name, again)
            stream = used.stream(self._pseudonyms[voice], self._rate, self._channels, profile)
            made = stream.finish(original)
        if made.shape != original.shape:
            raise AudioError(
                f"{self._name}: {used.card.name} is set to change how fast people speak, which "
                "cannot be done to one of several; leave out --set rate=true"
            )
        return _Made(made.numpy(), tuple(stream.warnings), refusal)

    def _compare(self, voice: str, made: _Made, original: Block) -> None:
        """Adds a group to the comparison of its voice with the original."""
        from voicenym.corpus.nearness.near_original import NearOriginalCheck

        used = self._system if made.refusal is None else self._fallback
        assert used is not None
        key = (voice, used.card.name)
        if key not in self._checks:
            self._checks[key] = NearOriginalCheck(used, self._name, self._rate, self._channels)
        self._checks[key].push_input(original)
        self._checks[key].push_output(made.sound)

    def _profile(self, system: Anonymizer, voice: str, original: torch.Tensor) -> object:
        if not system.reads_ahead:
            return None
        pseudonym = self._pseudonyms[voice]
        profiling = system.profiling(self._rate, self._channels, pseudonym=pseudonym)
        profiling.push(original)
        return profiling.result()


def _length(group: Sequence[tuple[int, Block]]) -> int:
    return sum(sound.shape[1] for _, sound in group)
