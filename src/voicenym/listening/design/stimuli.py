"""Clips of a study: one level, one rate, one format, and names that say nothing."""

from __future__ import annotations

import io
import math
import secrets
import wave
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from voicenym.corpus.recording import Recording
from voicenym.dsp.loudness import gain_to, integrated_loudness
from voicenym.errors import VoicenymError
from voicenym.listening.design import headphone_checks
from voicenym.listening.design.clip_treatments import treated
from voicenym.listening.design.material import ORIGINAL, Material
from voicenym.listening.design.near_originals import nearness
from voicenym.listening.study import ClipKey

LOUDEST, SOFTEST = -23.0, -36.0
"""LUFS: the level of a study is the highest one here that suits all of its clips."""
FAINTEST = -60.0
"""LUFS below which no level is taken: 16 bits hold little of a clip there, and nobody hears it."""
STOCK = 18
"""Headphone trials of a study, of which each listener gets some in an order of their own."""
PEAK = 10.0 ** (-1.0 / 20.0)
"""Largest sample of a clip."""


@dataclass(frozen=True)
class ClipSource:
    """What a clip is made of.

    Args:
        system, utterance: of the recording; or the method of a headphone check and its number.
        treatment: as of :func:`.clip_treatments.treated`.
    """

    system: str
    utterance: str
    treatment: str = ""


def token() -> str:
    """A random name of 96 bits."""
    return secrets.token_hex(12)


class ClipBank:
    """Clips by what they are made of; each gets its random name when it is first asked for.

    Args:
        material: the recordings.
        seed: of noise.
    """

    def __init__(self, material: Material, seed: int) -> None:
        self.material, self.seed = material, seed
        self.names: dict[ClipSource, str] = {}
        self._checks: dict[str, tuple[np.ndarray, str, str]] = {}

    def name(self, source: ClipSource) -> str:
        """Random name of a clip."""
        return self.names.setdefault(source, token())

    def checks(self, method: str, number: int, rng: np.random.Generator) -> list[tuple[str, str]]:
        """Names and right answers of different headphone trials, of a stock for all listeners."""
        while len(self._checks) < max(STOCK, number):
            sound, answer = headphone_checks.trial(method, rng)
            self._checks[token()] = (sound, method, str(answer))
        drawn = rng.permutation(len(self._checks))[:number]
        names = [list(self._checks)[place] for place in drawn]
        return [(name, self._checks[name][2]) for name in names]

    def render(
        self, level: float | None = None, done: Callable[[int], None] = lambda clips: None
    ) -> tuple[dict[str, bytes], dict[str, ClipKey], float]:
        """WAV files and meanings by name, and the level in LUFS.

        Args:
            level: that all clips get; None is the highest that suits all.
            done: called with 1 for each clip.

        Raises:
            VoicenymError: a silent clip, one that cannot have the level without clipping, or one
                of a system that is nearly its original.
        """
        used = {source: self.material.versions[source.system][source.utterance]
                for source in self.names}  # fmt: skip
        sounds = {one: one.sound() for one in dict.fromkeys(used.values())}
        rate = max(rate for _, rate in sounds.values())
        self._check_near(sounds)
        clips = {}
        whole = ((source.system, source.utterance) for source in used)
        order = {place: number for number, place in enumerate(dict.fromkeys(whole))}
        for source, recording in used.items():
            # the noise of a recording and its copy is the same
            rng = np.random.default_rng([self.seed, order[source.system, source.utterance]])
            samples = _resampled(*sounds[recording], rate)
            clips[source] = treated(samples, rate, source.treatment, rng)
            done(1)
        gains, level = _gains(clips, rate, level)
        files, keys = {}, {}
        for source, samples in clips.items():
            name, recording = self.names[source], used[source]
            files[name] = wav(gains[source] * samples[None], rate)
            shown = "" if source.treatment == "copy" else source.treatment
            system = f"{source.system} {shown}".strip()
            keys[name] = ClipKey(
                system, source.utterance, recording.speaker, round(len(samples) / rate, 3)
            )
        for name, (sound, method, _) in self._checks.items():
            files[name] = wav(sound, headphone_checks.RATE)
            seconds = sound.shape[1] / headphone_checks.RATE
            keys[name] = ClipKey(method, "", "", round(seconds, 3))
        return files, keys, level

    def _check_near(self, sounds: Mapping[Recording, tuple[np.ndarray, int]]) -> None:
        """Refuses a recording of a system that is nearly its original, whatever its format."""
        used = dict.fromkeys((source.system, source.utterance) for source in self.names)
        for system, utterance in used:
            if system == ORIGINAL or (system, utterance) in self.material.settled:
                continue
            made = self.material.versions[system][utterance]
            original = self.material.versions[ORIGINAL][utterance]
            before, rate = sounds[original] if original in sounds else original.sound()
            if how := nearness(before, _resampled(*sounds[made], rate), rate):
                raise VoicenymError(
                    f"{system}: {made.place} is nearly its original ({how}), which listeners would "
                    "hear; give the anonymized folder, or --sounds-alike "
                    f"{system} if the system is meant to sound like its originals"
                )


def _gains(
    clips: Mapping[ClipSource, np.ndarray], rate: int, level: float | None
) -> tuple[dict[ClipSource, float], float]:
    """Gains that bring all clips to one loudness, and that loudness."""
    if level is not None and not level >= FAINTEST:
        raise VoicenymError(
            f"--level {level:g}: nobody would hear the clips; give {FAINTEST:g} LUFS or more"
        )
    loudness, highest = {}, {}
    for source, samples in clips.items():
        found = integrated_loudness(samples, rate)
        if not math.isfinite(found):
            raise VoicenymError(
                f"{source.utterance} of {source.system} is silent or nearly so: its loudness "
                "cannot be matched with the others'; mend it or leave it out"
            )
        loudness[source] = found
        highest[source] = found + 20.0 * math.log10(PEAK / float(np.abs(samples).max()))
    worst = min(highest, key=lambda source: highest[source])
    reached = min(LOUDEST, math.floor(10.0 * highest[worst]) / 10.0)
    if level is None and reached < SOFTEST:
        raise VoicenymError(
            f"{worst.utterance} of {worst.system} has peaks so far above its loudness that all "
            f"others would have to sink to {reached:.1f} LUFS; remove its clicks or leave it out, "
            f"or accept that with --level {reached:.1f}"
        )
    if level is not None and level > highest[worst]:
        raise VoicenymError(
            f"{worst.utterance} of {worst.system} would clip at {level:g} LUFS, so that loudness "
            f"cannot be matched there; --level {reached:.1f} suits all recordings"
        )
    target = reached if level is None else level
    return {source: gain_to(target, found) for source, found in loudness.items()}, target


def _resampled(samples: np.ndarray, rate: int, to: int) -> np.ndarray:
    import soxr

    found: Any = samples if rate == to else soxr.resample(samples, rate, to)
    return np.asarray(found, dtype=np.float64)


def wav(samples: np.ndarray, rate: int) -> bytes:
    """A WAV file with 16 bits a sample and no metadata.

    Args:
        samples: ``[channel, time]`` in [-1, 1].
        rate: in Hz.
    """
    pcm = np.round(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(len(pcm))
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(np.ascontiguousarray(pcm.T).tobytes())
    return file.getvalue()
