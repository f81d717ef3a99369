"""Content of a live stream of word codes, step by step, of one row.

Either a window of some seconds is encoded again for each step (:class:`WindowContent`), or a live
encoder (:mod:`voicenym.nets.words.word_codes.live_word_codes`) computes each step once
(:class:`ChunkContent`), which takes a fraction of the time and looks less far ahead.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch

from voicenym.nets.content.content_encoder import RATE
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.words.whisper.whisper import STATE, Encoder
from voicenym.nets.words.word_codes.live_code_stream import LiveCodeStream
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.resynthesis.common.windows import Window
from voicenym.resynthesis.pipeline.gradual_listening import GradualListening
from voicenym.resynthesis.pipeline.language_check import LanguageCheck

STEP_SECONDS = 0.16
BEFORE_SECONDS = 4.8
AHEAD_SECONDS = 0.32
REMEMBERED_SECONDS = 1.28
"""Content before a step that the predictor of F0 and the synthesizer's filters need."""
LANGUAGE_SECONDS = 4.8
"""Samples that the language is detected in at a time, where the content is not."""


class StepContent(NamedTuple):
    """Content of a step, and of what is known before and after it.

    Args:
        entries: ``[frame, element]``, codebook vectors, or soft units.
        silent: ``[frame]`` bool, the code of silent places.
        before: frames of both before the step.
    """

    entries: torch.Tensor
    silent: torch.Tensor
    before: int


class LiveSteps(NamedTuple):
    """States of a live encoder, of 20 ms.

    Args:
        chunk: that are computed at a time.
        ahead: after a chunk that are read with it.
    """

    chunk: int
    ahead: int


class StepSizes(NamedTuple):
    """Samples of a step, before it and after it."""

    step: int
    before: int
    ahead: int


class LiveContent(Protocol):
    """Content of one row.

    Attributes:
        sizes: samples of a step and around it.
    """

    @property
    def sizes(self) -> StepSizes: ...

    def frames(self, window: Window, samples: torch.Tensor) -> StepContent:
        """Content of the next step.

        Args:
            window: its place in the stream.
            samples: ``[time]``, those of the window.
        """

    def listen(self, samples: torch.Tensor, speech: torch.Tensor) -> None:
        """Adds the step to the language check.

        Args:
            samples: ``[time]``, whole frames of the step.
            speech: ``[frame]`` bool, which of them are speech.
        """

    def idle(self) -> None:
        """Works ahead for the language check, in a block that completes no step."""

    def finish(self) -> None:
        """Adds what is left to the language check; the stream ends here."""


class WindowContent:
    """Content of windows of a recogniser's encoder, each encoded again.

    Args:
        content: the encoder.
        accent: of the content, ``kept``, ``native`` or ``drawn``.
        drawn: what is drawn; None for none.
        language: receives the scores of the steps.
        soft: whether frames are soft units in place of codes.
    """

    def __init__(
        self,
        content: WordCodeContent,
        accent: str,
        drawn: DrawnAccent | None,
        language: LanguageCheck,
        soft: bool = False,
    ) -> None:
        self._content, self._accent, self._drawn = content, accent, drawn
        self._language, self._soft = language, soft
        self._scores = torch.zeros(0)

    @property
    def sizes(self) -> StepSizes:
        """Samples of a step and around it, whole frames."""
        each, hop = (STEP_SECONDS, BEFORE_SECONDS, AHEAD_SECONDS), self._content.hop
        return StepSizes(*(round(one * RATE / hop) * hop for one in each))

    def frames(self, window: Window, samples: torch.Tensor) -> StepContent:
        hop = self._content.hop
        padded = torch.nn.functional.pad(samples, (0, -len(samples) % hop))
        found = self._content.live(padded, self._accent, self._drawn, self._soft)
        before = window.before // hop
        self._scores = found.scores[before:]
        return StepContent(found.entries, found.silent, before)

    def listen(self, samples: torch.Tensor, speech: torch.Tensor) -> None:
        self._language.add(self._scores[None, : len(speech)], samples[None], speech[None])

    def idle(self) -> None:
        pass

    def finish(self) -> None:
        pass


class ChunkContent:
    """Content of a live encoder, whose accents are drawn.

    Args:
        content: the encoder of whole recordings, of whose codebook the codes are.
        network: the live encoder.
        encoder, head: of Whisper and of word codes, with its changes.
        drawn: the accent; None for none.
        language: receives scores by the encoder of whole recordings, :data:`LANGUAGE_SECONDS` late.
        steps: of the stream; by default those of the network.
        soft: whether frames are soft units in place of codes.
    """

    def __init__(
        self,
        content: WordCodeContent,
        network: LiveWordCodes,
        encoder: Encoder,
        head: WordCodeEncoder,
        drawn: DrawnAccent | None,
        language: LanguageCheck,
        steps: LiveSteps | None = None,
        soft: bool = False,
    ) -> None:
        self._content, self._head, self._drawn = content, head, drawn
        steps = steps or LiveSteps(network.sizes.chunk, network.sizes.ahead)
        self._stream = LiveCodeStream(network, encoder, head, steps.ahead, steps.chunk)
        self._language, self._soft = language, soft
        self._ahead = steps.ahead * STATE
        self._entries = encoder.window.new_zeros(0, content.size)
        self._silent = torch.zeros(0, dtype=torch.bool, device=encoder.window.device)
        self._heard: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._listening: GradualListening | None = None

    @property
    def sizes(self) -> StepSizes:
        """Samples of a step and around it."""
        return StepSizes(self._stream.chunk, self._stream.before, self._stream.ahead)

    def frames(self, window: Window, samples: torch.Tensor) -> StepContent:
        chunk = self._stream.chunk
        after = len(samples) - window.before - chunk
        last = after < self._stream.ahead
        if last:  # whole chunks, and no more of what follows than the encoder reads
            after = min(max(0, after - after % -chunk), self._ahead)
            whole = window.before + chunk + after
            samples = torch.nn.functional.pad(samples[:whole], (0, max(0, whole - len(samples))))
        found = self._stream.step(samples, last)
        vectors = torch.cat(found)[None]
        entries, silent = self._content.spoken(vectors, self._head, self._drawn, self._soft)
        before, own = len(self._entries), len(found.own)
        entries = torch.cat([self._entries, entries[0]])
        silent = torch.cat([self._silent, silent[0]])
        kept = slice(max(0, before + own - self._remembered), before + own)
        self._entries, self._silent = entries[kept], silent[kept]
        return StepContent(entries, silent, before)

    def listen(self, samples: torch.Tensor, speech: torch.Tensor) -> None:
        if self._listening is not None and self._listening.step():
            self._listening = None
        self._heard.append((samples, speech))
        if sum(len(one) for one, _ in self._heard) >= LANGUAGE_SECONDS * RATE:
            self._listening = self._listening_to_heard()

    def idle(self) -> None:
        if self._listening is not None:
            self._listening.ahead()

    def finish(self) -> None:
        if self._listening is not None:
            self._listening.finish()
        if self._heard:
            self._listening_to_heard().finish()

    def _listening_to_heard(self) -> GradualListening:
        samples, speech = (torch.cat(each)[None] for each in zip(*self._heard, strict=True))
        self._heard = []
        return GradualListening(self._content, self._language, samples, speech)

    @property
    def _remembered(self) -> int:
        return round(REMEMBERED_SECONDS * RATE / self._content.hop)
