"""Core of ``asr-tts``: speaks the phrases of the first pass in the drawn voice, at their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from voicenym.nets.speech_synthesis.synthesiser import Synthesiser
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.common.fixed_level import USUAL
from voicenym.resynthesis.retelling.drawn_speaker import DrawnSpeaker
from voicenym.resynthesis.retelling.phrases_heard import NAMED, Phrase, sentences
from voicenym.resynthesis.retelling.retelling_profile import RATE, RetellingProfile, RowProfile

KEEP, LOOSE, FREE = "keep", "loose", "free"
TIMINGS = (KEEP, LOOSE, FREE)
GAPS = {KEEP: 0.0, LOOSE: 1.0, FREE: 2.0}
"""Seconds of a pause that ends a sentence without a mark, by timing; with ``keep``, all do."""
KEPT, FIXED = "kept", "fixed"
LEVELS = (KEPT, FIXED)
MOVED = 0.15
"""Largest displacement of a sentence with loose timing, in seconds."""
BETWEEN = 0.05
"""Seconds of silence at least between phrases."""
FASTEST, LAST_FASTEST = 1.8, 3.0
"""Largest factor of speed by which speech is made to fit before the next phrase, and before the end
of the recording."""
SPARE = 1.02
"""Factor of the speed beyond what fits, because durations are rounded to frames."""
PAUSES = (0.25, 0.8)
"""Seconds of the drawn pauses between sentences with free timing."""
EDGES = (0.1, 0.4)
"""Seconds of the drawn silence before the first sentence and after the last."""
PER_CHARACTER = 0.065
"""Seconds that a character takes, about: a forecast of the length with free timing."""
TOLD = 0.05
"""Seconds from which a reason for silence is told."""


@dataclass(frozen=True)
class Speech:
    """What a row is spoken with.

    Args:
        synthesiser: of the voice.
        speaker: the voice.
        pseudonym: that drew it; of displacements, pauses and noise.
        timing: ``keep``, ``loose`` or ``free``.
        level: ``kept`` or ``fixed``.
    """

    synthesiser: Synthesiser
    speaker: DrawnSpeaker
    pseudonym: Pseudonym
    timing: str
    level: str = KEPT


class _Row:
    """A row: its sentences, and the output that is not given back yet.

    Args:
        profile: of the row.
        speech: how it is spoken.
    """

    def __init__(self, profile: RowProfile, speech: Speech) -> None:
        self._speech = speech
        self._end = round(profile.seconds * RATE)
        self._units = _units(profile.phrases, speech.timing)
        self._letters = sum(len(unit.text) for unit in self._units)
        self._energy = profile.energy
        self._next = 0
        self._pushed = 0
        self._until = 0
        """Sample before which no phrase may begin, because the one before it still sounds."""
        self._output = np.zeros(0, np.float32)
        self.given = 0
        self.cut = 0
        """Sentences whose end did not fit into the recording."""
        drawn = speech.pseudonym.uniforms("asr-tts.pauses", len(self._units) + 2)
        self._draws = np.array(drawn)
        if self.free and self._units:
            self._silence(EDGES[0] + (EDGES[1] - EDGES[0]) * self._draws[0])

    @property
    def free(self) -> bool:
        """Whether the length changes."""
        return self._speech.timing == FREE

    def push(self, samples: int) -> None:
        """So many more samples of the input: speaks the sentences that begin there."""
        self._pushed += samples
        while self._next < len(self._units) and self._start(self._next) < self._pushed:
            self._say(self._next)
            self._next += 1

    def end(self) -> None:
        """The end of the input: speaks what is left."""
        while self._next < len(self._units):
            self._say(self._next)
            self._next += 1
        if self.free and self._units:
            self._silence(EDGES[0] + (EDGES[1] - EDGES[0]) * self._draws[-1])
        else:
            self._fill(self._pushed - self.given)
            self._output = self._output[: self._pushed - self.given]

    @property
    def ready(self) -> int:
        """Samples of finished output."""
        return len(self._output) if self.free else self._pushed - self.given

    def read(self, samples: int) -> np.ndarray:
        """The next samples; zeros after the end."""
        self._fill(samples)
        found, self._output = self._output[:samples], self._output[samples:].copy()
        self.given += samples
        return found

    def forecast(self) -> int:
        """About how many samples the output will have; exact after the end."""
        if not self.free or not self._units:
            return self._end
        pauses = len(self._units) * sum(PAUSES) / 2.0
        return round((self._letters * PER_CHARACTER / self._speech.speaker.tempo + pauses) * RATE)

    def _start(self, number: int) -> int:
        """Sample at which a sentence begins, if the one before it has ended."""
        moved = MOVED * (2.0 * self._draws[number + 1] - 1.0)
        start = self._units[number].start + (moved if self._speech.timing == LOOSE else 0.0)
        return round(max(0.0, start) * RATE)

    def _say(self, number: int) -> None:
        unit = self._units[number]
        if self.free:
            samples = self._spoken(number, 1.0)
            self._put(samples, unit)
            if number + 1 < len(self._units):
                self._silence(PAUSES[0] + (PAUSES[1] - PAUSES[0]) * self._draws[number + 1])
            return
        last = number + 1 == len(self._units)
        begin = max(self._start(number), self._until)
        limit = self._end if last else self._start(number + 1) - round(BETWEEN * RATE)
        room = max(limit - begin, 1)
        samples = self._spoken(number, 1.0)
        for _ in range(2):
            fastest = FASTEST if not last else LAST_FASTEST
            if len(samples) > room:
                speed = min(SPARE * len(self._plain) / room, fastest)
                samples = self._spoken(number, speed, again=True)
        self._output = self._output[: begin - self.given]
        self._fill(begin - self.given)
        self._put(samples, unit)
        self._until = begin + len(samples) + round(BETWEEN * RATE)
        if last and self.given + len(self._output) > self._end:
            self.cut += 1

    def _spoken(self, number: int, speed: float, again: bool = False) -> np.ndarray:
        speech = self._speech
        rng = speech.pseudonym.rng(f"asr-tts.noise.{number}")
        text = self._units[number].text
        found = speech.speaker.speak(speech.synthesiser, text, speed, rng)
        if not again:
            self._plain = found
        return found

    def _put(self, samples: np.ndarray, unit: Phrase) -> None:
        """Appends speech, at a fixed level or at that of its share of the recording's energy."""
        own = float(np.square(samples, dtype=np.float64).sum())
        share = self._energy * len(unit.text) / max(1, self._letters)
        if self._speech.level == FIXED:
            share = USUAL**2 * len(samples)
        gain = np.float32(np.sqrt(share / own)) if own > 0.0 else np.float32(0.0)
        self._output = np.concatenate([self._output, gain * samples])

    def _silence(self, seconds: float) -> None:
        self._output = np.pad(self._output, (0, round(seconds * RATE)))

    def _fill(self, samples: int) -> None:
        """Extends the output with zeros to so many samples at least."""
        missing = samples - len(self._output)
        if missing > 0:
            self._output = np.pad(self._output, (0, missing))


class RetellingCore:
    """Core of rows whose length is kept.

    Args:
        profile: of the recording.
        speeches: of the rows.
    """

    latency = 0

    def __init__(self, profile: RetellingProfile, speeches: Sequence[Speech]) -> None:
        self._profile = profile
        found = profile.rows
        if len(found) == 1:
            found = found * len(speeches)
        self.rows = [_Row(row, speech) for row, speech in zip(found, speeches, strict=True)]
        self._device = torch.device("cpu")

    def push(self, block: torch.Tensor) -> torch.Tensor:
        self._device = block.device
        for row in self.rows:
            row.push(block.shape[1])
        return self._read(min(row.ready for row in self.rows))

    def flush(self) -> torch.Tensor:
        for row in self.rows:
            row.end()
        return self._read(max(row.ready for row in self.rows))

    def _read(self, samples: int) -> torch.Tensor:
        found = torch.from_numpy(np.stack([row.read(samples) for row in self.rows]))
        return found.to(self._device)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user: what was silenced, and what did not fit."""
        return tuple(_warnings(self._profile.rows, sum(row.cut for row in self.rows)))


class FreeRetellingCore(RetellingCore):
    """Core of rows whose length is that of the new speech."""

    _total: tuple[int, ...] = ()

    def flush(self) -> torch.Tensor:
        for row in self.rows:
            row.end()
        self._total = tuple(row.given + row.ready for row in self.rows)
        return self._read(max(row.ready for row in self.rows))

    def lengths(self, samples: int) -> list[int]:
        """Samples of each row's output: after the end, for an input as long as that which was
        pushed, exactly; else about.
        """
        found = []
        for i, row in enumerate(self.rows):
            own = row._end
            total = self._total[i] if self._total else row.forecast()
            near = abs(samples - own) <= RATE // 50
            found.append(total if near else round(samples * total / max(1, own)))
        return found


def _units(phrases: Sequence[Phrase], timing: str) -> list[Phrase]:
    return list(phrases) if timing == KEEP else sentences(phrases, GAPS[timing])


def _warnings(rows: Sequence[RowProfile], cut: int) -> Iterator[str]:
    total: dict[str, float] = {}
    for row in rows:
        for reason, seconds in row.silenced.items():
            total[reason] = total.get(reason, 0.0) + seconds / len(rows)
    told = [f"{s:.1f} s of {NAMED[reason]}" for reason, s in total.items() if s >= TOLD]
    if told:
        yield "silenced, because it could not be retold: " + ", ".join(told)
    if not any(row.phrases for row in rows):
        yield "nothing was retold: the output is silent"
    if cut:
        yield (
            "the new speech is longer than the recording, and its end was cut off: "
            "--set timing=free keeps all words and changes the length"
        )
