"""A listener with Whisper: phrases between pauses, and reasons to silence what is no clear speech.

Speech is found by silero's detector, words and their times by Whisper, music and other languages by
the scores of the bundled word codes (:mod:`voicenym.nets.content.language_scores`).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from voicenym.diarization.speech_regions import ANY_SPEECH, RegionRule, speech_regions
from voicenym.dsp import analysis_memory
from voicenym.dsp.speech_activity import levelled, loud_frames
from voicenym.errors import VoicenymError
from voicenym.nets.activity.silero import SpeechProbabilities
from voicenym.nets.checkpoint import configuration
from voicenym.nets.content.content_encoder import Content
from voicenym.nets.words.whisper.cross_attention_times import TimedWord, timed_words
from voicenym.nets.words.whisper.whisper import RATE
from voicenym.nets.words.whisper.whisper_decoding import greedy
from voicenym.nets.words.whisper.whisper_published import ENGLISH, published
from voicenym.nets.words.whisper.whisper_vocabulary import Vocabulary
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.language_check import LanguageCheck, SpeechScore, is_foreign
from voicenym.resynthesis.retelling.phrases_heard import (
    LANGUAGE,
    MUSIC,
    NO_SPEECH,
    SENTENCE_ENDS,
    UNCLEAR,
    Heard,
    Listener,
    Phrase,
)

SPOKEN = RegionRule(least_gap=0.35, least_region=0.1, margin=0.08)
"""Regions of speech: pauses of 0.35 s part phrases."""
NEAR = 0.6
"""Seconds from a region within which a word is of it; others were not said."""
FRAME = 320
TOKENS_PER_SECOND, TOKENS_MORE = 10, 16
"""Largest number of tokens of a window, that of very fast speech."""
NO_WORDS, DOUBT = 0.6, -1.0
"""Probability of no speech from which a window has no words, if the mean log probability of its
text is below the second number (Radford et al., section 4.5).
"""
REMEMBERED = 16_384
"""Parts whose phrases are kept in memory, about 0.9 KB each: under another key, a recording is not
heard again, also where an attacker goes through thousands of recordings key by key.
"""
LEAST_SOUND = 1e-7
"""Power below which a sound is not missed."""


class WhisperListener(Listener):
    """Phrases by Whisper.

    Args:
        place: folder of a Whisper (of ours, of the hub or of CTranslate2).
        language: code of what is spoken, such as ``en``; the model writes in it.
        checks: encoder with scores of music and other languages; None: neither is looked for.
        stated: whether the user says that the language is this one, and is believed.
        confidence: geometric mean of the words' probabilities below which a phrase is silenced.
        device: where to compute.

    Raises:
        DependencyError, VoicenymError: no Whisper there, or no such language.
    """

    def __init__(
        self,
        place: Path,
        language: str = "en",
        checks: Content | None = None,
        stated: bool = False,
        confidence: float = 0.0,
        device: str = "cpu",
    ) -> None:
        model = published(place, languages=True)
        self._network = model.network.to(device).requires_grad_(False)
        self._known, self._how = Vocabulary(model.tokenizer), model.writing
        code = language.partition("-")[0].lower()
        if model.network.sizes.tokens == ENGLISH:
            if code != "en":
                raise VoicenymError(
                    f"{place}: a recogniser of English alone, and the speech is {language!r}; give "
                    "a Whisper of several languages (--set recogniser=./FOLDER)"
                )
        else:
            known = self._known.languages()
            if code not in known:
                raise VoicenymError(f"{place}: knows no language {code!r}; give another recogniser")
            begin = list(self._how.begin)
            begin[1] = known[code]
            self._how = dataclasses.replace(self._how, begin=tuple(begin))
        self._checks, self._stated = checks, stated
        self._confidence, self._device = confidence, device
        self._remembered: OrderedDict[bytes, Heard] = OrderedDict()

    def hear(self, samples: np.ndarray) -> Heard:
        if not len(samples) or not samples.any():
            return Heard()
        if not analysis_memory.counts():
            return self._heard(samples)
        key = hashlib.sha256(np.ascontiguousarray(samples).tobytes()).digest()
        if key not in self._remembered:
            self._remembered[key] = self._heard(samples)
            if len(self._remembered) > REMEMBERED:
                self._remembered.popitem(last=False)
        return self._remembered[key]

    def _heard(self, samples: np.ndarray) -> Heard:
        signal = torch.from_numpy(np.ascontiguousarray(samples))
        even = levelled(signal)
        detector = SpeechProbabilities()
        detector.push(even)
        probabilities, seconds = detector.result().numpy(), len(samples) / RATE
        regions = speech_regions(probabilities, seconds, SPOKEN)
        silenced = {
            NO_SPEECH: _elsewhere(signal, speech_regions(probabilities, seconds, ANY_SPEECH))
        }
        phrases = []
        if len(regions):
            words = self._words(even, regions)
            music, foreign = self._scored(signal)
            for phrase, certainty in _phrases(words, regions):
                reason = ""
                if foreign:
                    reason = LANGUAGE
                elif music is not None and _mostly_music(self._checks, music, signal, phrase):
                    reason = MUSIC
                elif not phrase.text or np.exp(certainty) < self._confidence:
                    reason = UNCLEAR
                if reason:
                    silenced[reason] = silenced.get(reason, 0.0) + phrase.end - phrase.start
                else:
                    phrases.append(phrase)
        return Heard(tuple(phrases), silenced)

    @torch.inference_mode()
    def _words(self, signal: torch.Tensor, regions: np.ndarray) -> list[TimedWord]:
        """Words between the first and the last region, with times in the recording."""
        first, last = round(regions[0, 0] * RATE), round(regions[-1, 1] * RATE)
        part = signal[first:last]
        states = self._network.states(part[None].to(self._device))
        most = TOKENS_MORE + TOKENS_PER_SECOND * len(part) // RATE
        text = greedy(self._network, states, self._how, most)[0]
        if text.no_speech > NO_WORDS and text.log_prob < DOUBT:
            return []
        words = timed_words(
            self._network, self._known, states, text.tokens, self._how, len(part) / RATE
        )
        start = first / RATE
        if text.looped or text.cut:  # what follows the loop was not written down
            words = words[:-1]
        return [
            dataclasses.replace(word, start=word.start + start, end=word.end + start)
            for word in words
        ]

    @torch.inference_mode()
    def _scored(self, signal: torch.Tensor) -> tuple[torch.Tensor | None, bool]:
        """Scores ``[1, frame, kind]``, and whether the speech is of another language."""
        content = self._checks
        if content is None or content.language_scores is None:
            return None, False
        _, scores = content.with_language_score(signal[None])
        if scores is None:
            return None, False
        if self._stated:
            return scores, False
        found = _measured(content, scores, signal[None])
        return scores, is_foreign(content.language_scores, found)


def _measured(
    content: Content, scores: torch.Tensor, samples: torch.Tensor
) -> tuple[SpeechScore, ...]:
    check = LanguageCheck(content)
    check.add(scores, samples)
    return check.scores


def _mostly_music(
    content: Content | None, scores: torch.Tensor, signal: torch.Tensor, phrase: Phrase
) -> bool:
    assert content is not None  # there are scores
    first, last = (round(x * RATE / content.hop) for x in (phrase.start, phrase.end))
    part = signal[None, first * content.hop : last * content.hop]
    if not part.shape[1] // FRAME:
        return False
    found = _measured(content, scores[:, first:last], part)
    return any(row.music > row.seconds for row in found)


def _elsewhere(signal: torch.Tensor, regions: np.ndarray) -> float:
    """Seconds of loud sound outside of regions."""
    loud = loud_frames(signal, FRAME)
    whole = len(loud) * FRAME
    loud &= signal[:whole].unflatten(0, (-1, FRAME)).square().mean(1) > LEAST_SOUND
    middles = (torch.arange(len(loud)) + 0.5) * FRAME / RATE
    for start, end in regions.tolist():
        loud &= (middles < start) | (middles > end)
    return float(loud.sum()) * FRAME / RATE


def _phrases(words: Sequence[TimedWord], regions: np.ndarray) -> Iterator[tuple[Phrase, float]]:
    """Phrases with their mean log probability: a region's words, parted where sentences end.

    A region without words is a phrase without text.
    """
    of_region: list[list[TimedWord]] = [[] for _ in regions]
    for word in words:
        middle = 0.5 * (word.start + word.end)
        distance = np.maximum(np.maximum(regions[:, 0] - middle, middle - regions[:, 1]), 0.0)
        if distance.min() <= NEAR:
            of_region[int(distance.argmin())].append(word)
    for (start, end), own in zip(regions.tolist(), of_region, strict=True):
        if not own:
            yield Phrase(start, end, ""), -np.inf
            continue
        groups: list[list[TimedWord]] = [[]]
        for word in own:
            if groups[-1] and groups[-1][-1].text.endswith(SENTENCE_ENDS):
                groups.append([])
            groups[-1].append(word)
        edges = [start, *(min(max(g[0].start, start), end) for g in groups[1:]), end]
        for group, begin, stop in zip(groups, edges[:-1], edges[1:], strict=True):
            tokens = sum(word.tokens for word in group)
            total = sum(word.log_prob * word.tokens for word in group)
            yield Phrase(begin, max(begin, stop), " ".join(w.text for w in group)), total / tokens


def opened(
    place: Path, language: str, stated: bool, confidence: float, device: str
) -> WhisperListener:
    """A listener; the last two are kept.

    Args:
        place: as of :class:`WhisperListener`.
        language: likewise.
        stated, confidence, device: likewise.

    Raises:
        DependencyError, VoicenymError: as :class:`WhisperListener`.
    """
    stamp = str(configuration(place).get("sha256", "")) if (place / "config.json").is_file() else ""
    return _opened(place, language, stated, confidence, device, stamp)


@functools.lru_cache(maxsize=2)
def _opened(
    place: Path, language: str, stated: bool, confidence: float, device: str, stamp: str
) -> WhisperListener:
    checks = assembly.opened(assembly.BUNDLED / "ssl", device).content
    return WhisperListener(place, language, checks, stated, confidence, device)
