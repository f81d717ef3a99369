"""Language check: whether a recording is speech of the language of a pipeline's weights.

An encoder of word codes turns any language, and music, into the sounds of its own. With language
scores (:mod:`voicenym.nets.content.language_scores`) a pipeline refuses recordings of other
languages by their first minute of speech, and recordings that are mostly music or noise; a warning
tells of those whose language changes later, or for a while, and of music in between. Without
scores, a warning tells of speech that the codebook fits badly; it misses many recordings. Of an
encoder without a codebook, a warning says of which language the weights are, and that nobody
checked it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from voicenym.anonymizer import Refusal
from voicenym.dsp.speech_activity import loud_frames
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.content.language_scores import PIECE_SECONDS, LanguageScores

LEAST_SECONDS = 3.0
"""Seconds of speech that a verdict by misfits needs."""
ENOUGH_SECONDS = 60.0
"""Seconds of speech by which a recording is refused or not."""
PASSAGE_SECONDS = 20.0
"""Seconds of speech by which a passage in another language is found; of fewer, accents are taken
for one."""
MUSIC_SECONDS = 4.0
"""Seconds of music or noise from which a warning tells of it."""


class SpeechScore(NamedTuple):
    """Mean language score of a row's speech.

    Args:
        seconds: of speech.
        mean: of the scores of its frames (:meth:`Content.with_language_score`); 0 without speech.
        music: seconds of music or noise.
        foreign: seconds of speech in passages that are likely of another language.
    """

    seconds: float
    mean: float
    music: float = 0.0
    foreign: float = 0.0


class LanguageCheck:
    """Mean language score of the speech of each row.

    Args:
        content: the encoder, with :attr:`Content.language_scores`, or with a limit of misfits.
        known: whether the user says that the language is that of the weights; then there is no
            verdict.
    """

    def __init__(self, content: Content, known: bool = False) -> None:
        self._content, self._known = content, known
        self._sums = torch.zeros(0, dtype=torch.float64)
        self._frames = torch.zeros(0, dtype=torch.int64)
        self._music = torch.zeros(0, dtype=torch.int64)
        self._passages: list[_Passages] = []

    def add(
        self,
        scores: torch.Tensor | None,
        samples: torch.Tensor,
        loud: torch.Tensor | None = None,
    ) -> None:
        """Adds frames.

        Args:
            scores: ``[row, frame, kind]``, of :meth:`Content.with_language_score`.
            samples: ``[row, time]`` that they were made of.
            loud: ``[row, frame]`` bool, which of them are speech or music; None finds it by their
                level among all that are added.
        """
        if scores is None or self.off:
            return
        rows = len(samples)
        loud = loud_frames(samples, self._content.hop) if loud is None else loud
        if not len(self._sums):
            self._sums = self._sums.new_zeros(rows)
            self._frames, self._music = self._frames.new_zeros(2, rows)
            if (known := self._content.language_scores) is not None:
                limit = known.limit_for(PASSAGE_SECONDS)
                half = round(0.5 * PASSAGE_SECONDS * self._content.rate / self._content.hop)
                self._passages = [_Passages(limit, half) for _ in range(rows)]
        values = scores[:, : loud.shape[1]].double()
        music = torch.zeros_like(loud)
        if values.shape[2] > 1:
            size = round(PIECE_SECONDS * self._content.rate / self._content.hop)
            music = loud & (_means(values[:, :, 1], loud, size) >= 0.0)
        speech = loud & ~music
        for passages, row, own in zip(self._passages, values[:, :, 0], speech, strict=False):
            passages.add(row[own].cpu())
        self._sums += torch.where(speech, values[:, :, 0], 0.0).sum(1).cpu()
        self._frames += speech.sum(1).cpu()
        self._music += music.sum(1).cpu()

    @property
    def off(self) -> bool:
        """Whether there is no verdict."""
        content = self._content
        return self._known or (content.language_scores is None and content.most_misfit is None)

    @property
    def scores(self) -> tuple[SpeechScore, ...]:
        """Of each row that was added."""
        frame = self._content.hop / self._content.rate
        means = self._sums / self._frames.clamp_min(1)
        found = (self._frames * frame, means, self._music * frame)
        foreign = [passages.frames * frame for passages in self._passages] or [0.0] * len(means)
        return tuple(map(SpeechScore, *(x.tolist() for x in found), foreign))

    @property
    def foreign_now(self) -> tuple[bool, ...]:
        """Whether the last speech of each row is a passage likely of another language."""
        return tuple(passages.within for passages in self._passages)

    @property
    def enough(self) -> bool:
        """Whether there is speech enough in each row."""
        return self.off or (
            len(self._sums) > 0 and all(x.seconds >= ENOUGH_SECONDS for x in self.scores)
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user where the language is likely another one, or is unknown."""
        if self.off:
            return () if self._known else _unchecked(self._content.language)
        if self._content.language_scores is not None:
            return _by_scores(self._content.language_scores, self.scores)
        limit = self._content.most_misfit
        assert limit is not None  # else it is off
        for seconds, mean, *_ in self.scores:
            if seconds >= LEAST_SECONDS and mean > limit:
                return (
                    "the speech does not fit the language of the weights, which is English for "
                    f"those that come along (misfit {mean:.2f}, limit {limit:.2f}): if it is "
                    "another language, its words are lost; choose a system that keeps all sounds, "
                    "such as recast",
                )
        return ()


class _Passages:
    """Frames of speech in passages of two halves whose mean score exceeds a limit.

    Args:
        limit: of the mean.
        half: frames of half a passage; halves follow each other, passages begin with each half.

    Attributes:
        frames: in such passages so far.
        within: whether the last two halves are such a passage.
    """

    def __init__(self, limit: float, half: int) -> None:
        self._limit, self._half = limit, half
        self._rest = torch.zeros(0, dtype=torch.float64)
        self._before: float | None = None
        self.within = False
        self.frames = 0

    def add(self, scores: torch.Tensor) -> None:
        """Adds scores ``[frame]`` of speech."""
        *whole, self._rest = torch.cat([self._rest, scores]).split(self._half)
        if len(self._rest) == self._half:
            whole.append(self._rest)
            self._rest = self._rest[:0]
        for part in whole:
            mean = float(part.mean())
            foreign = self._before is not None and 0.5 * (self._before + mean) > self._limit
            if foreign:
                self.frames += self._half if self.within else 2 * self._half
            self._before, self.within = mean, foreign


def _means(values: torch.Tensor, loud: torch.Tensor, size: int) -> torch.Tensor:
    """Means over the loud frames of pieces of ``size`` frames, ``[row, frame]``."""
    frames = values.shape[1]
    weight = torch.nn.functional.pad(loud.to(values), (0, -frames % size)).unflatten(1, (-1, size))
    total = torch.nn.functional.pad(values, (0, -frames % size)).unflatten(1, (-1, size)) * weight
    means: torch.Tensor = total.sum(2) / weight.sum(2).clamp_min(1.0)
    return means.repeat_interleave(size, 1)[:, :frames]


def _unchecked(language: str) -> tuple[str, ...]:
    if not language:
        return ()
    return (
        f"the weights are of {language}, and the language of the speech is not detected: speech of "
        f"another one loses its words; --language {language} says that it is {language}",
    )


def _by_scores(scores: LanguageScores, rows: tuple[SpeechScore, ...]) -> tuple[str, ...]:
    return (*_of_music(rows), *_of_language(scores, rows))


def _of_music(rows: tuple[SpeechScore, ...]) -> tuple[str, ...]:
    seconds = max((row.music for row in rows), default=0.0)
    if seconds < MUSIC_SECONDS:
        return ()
    return (
        f"{seconds:.0f} s sound like music or noise, of which these weights make sounds like "
        "speech: cut them out, or choose a system that keeps all sounds, such as recast",
    )


def _of_language(scores: LanguageScores, rows: tuple[SpeechScore, ...]) -> tuple[str, ...]:
    if is_foreign(scores, rows):
        return (
            f"much of the speech is likely not of the language of the weights ({scores.language}), "
            "so that its words are lost: cut the recording where the language changes, or choose a "
            "system that keeps all sounds, such as recast",
        )
    if foreign := max((row.foreign for row in rows), default=0.0):
        return (
            f"passages of {foreign:.0f} s of speech are likely not of the language of the weights "
            f"({scores.language}), at least in part, so that their words are lost: cut them out, "
            "or choose a system that keeps all sounds, such as recast",
        )
    if any(0.0 < row.seconds < scores.least for row in rows):
        return (
            "too little speech to detect its language; the weights are of "
            f"{scores.language}, and speech of another language loses its words",
        )
    return ()


def is_foreign(scores: LanguageScores, rows: tuple[SpeechScore, ...]) -> bool:
    """Whether a row is likely of another language than the weights."""
    return any(
        row.seconds >= scores.least and row.mean > scores.limit_for(row.seconds) for row in rows
    )


def is_music(scores: LanguageScores, rows: tuple[SpeechScore, ...]) -> bool:
    """Whether rows are mostly music or noise, with less than a minute of speech."""
    audible = [row for row in rows if row.seconds + row.music > 0.0]
    return bool(audible) and all(
        row.seconds < min(row.music, ENOUGH_SECONDS) and row.music >= scores.least
        for row in audible
    )


def refusal(scores: LanguageScores, rows: tuple[SpeechScore, ...]) -> Refusal | None:
    """Refusal of a recording that is mostly music or noise, or of another language than the
    weights.
    """
    own = scores.language
    if is_music(scores, rows):
        return Refusal(
            "the recording is mostly music or noise, of which the weights make sounds like speech",
            f"if it is speech, give --language {own}",
        )
    if not is_foreign(scores, rows):
        return None
    return Refusal(
        f"the speech is likely not of the language of the weights ({own})",
        f"if it is, give --language {own}",
    )


def refusal_of_stated(own: str, language: str) -> Refusal | None:
    """Refusal of recordings whose language, as the user states it, is not the weights' ``own``."""
    if same_language(language, own):
        return None
    return Refusal(
        f"the weights are of another language ({own}) than the speech ({language})",
        "for weights of that language, see voicenym train",
    )


def same_language(one: str, other: str) -> bool:
    """Whether two codes are of one language, such as ``en-GB`` and ``en``."""
    return one.partition("-")[0].lower() == other.partition("-")[0].lower()
