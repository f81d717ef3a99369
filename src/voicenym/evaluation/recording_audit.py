"""Audit of one recording and its anonymized form with all attackers that need no training.

One pair cannot measure protection, because it has one pseudo-voice and no other speakers. The audit
finds failures; ``voicenym evaluate`` measures protection.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from voicenym.anonymizer import load
from voicenym.anonymizer.system_settings import label
from voicenym.attack.denoisers import denoisers
from voicenym.attack.searches.inversion import inversions
from voicenym.attack.searches.key_search import candidate_keys
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.nearness.stored_nearness import nearness
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.corpus.transforms import EVERYBODY, Anonymize
from voicenym.dsp.pitch import online as pitch
from voicenym.errors import VoicenymError, counted
from voicenym.metrics import Affine
from voicenym.metrics.crowd import chances
from voicenym.pseudonym import Key
from voicenym.verification.verifier import Verifier

KEYS = 24
COPY = 0.9
"""Correlation of waveforms above which the output contains the original."""
WEAK, CLEAR = math.log(3.0), math.log(20.0)


CROWD, MORE = 1000, 10
"""Number of people in a search, and number of recordings of a second search."""


@dataclass(frozen=True)
class Sight:
    """Result of one attacker for the pair.

    Args:
        attacker: its name.
        llr: log-likelihood ratio in nats; values above 0 favour the same speaker.
    """

    attacker: str
    llr: float

    @property
    def words(self) -> str:
        """The ratio in words."""
        times = math.exp(min(abs(self.llr), 20.0))
        size = f"{times:.1f}" if times < 10 else f"{times:.0f}" if times < 1000 else "over 1000"
        side = "the same speaker" if self.llr > 0 else "two different speakers"
        return f"{size} times likelier if it is {side}"


@dataclass(frozen=True)
class Audit:
    """Results of an audit.

    Args:
        sights: by descending ratio.
        copied: largest correlation of the two waveforms, 0 to 1.
        pitch: medians of F0 in Hz, before and after; None where unvoiced.
        tags: metadata of the anonymized file.
        seconds: durations, before and after.
        near: how passages of the output are nearly the original, in words; empty if none is
            (:mod:`voicenym.corpus.nearness.near_original`).
    """

    sights: tuple[Sight, ...]
    copied: float
    pitch: tuple[float | None, float | None]
    tags: tuple[str, ...]
    seconds: tuple[float, float]
    near: str = ""

    def searched(self) -> str:
        """Probability that a search among :data:`CROWD` people finds this speaker, as a sentence.

        Priors are equal and ratios calibrated. :data:`MORE` recordings count as independent, which
        is the worst case (:func:`voicenym.metrics.crowd.chances`).
        """
        top = self.sights[0]
        if top.llr <= 0.0:
            # ten times a ratio below 1 is a still lower one, which is no worst case
            return (
                f"Among {CROWD:,} people, these attackers find this speaker no more often than by "
                f"chance (once in {CROWD:,}) with this recording; attackers with more recordings, "
                "or who train on anonymized speech, were not tried."
            )
        one, several = (_once_in(chances(top.llr, CROWD, m)) for m in (1, MORE))
        return (
            f"Among {CROWD:,} people, with 1 recording, the best attacker ({top.attacker}) finds "
            f"this speaker {one}; with {MORE} such recordings, at worst {several}."
        )

    @property
    def is_copy(self) -> bool:
        """Whether the original waveform is still there, whole or in passages."""
        return self.copied > COPY or bool(self.near)

    @property
    def verdict(self) -> str:
        """Verdict in one sentence, which never calls a voice anonymous."""
        top = self.sights[0]
        if self.copied > COPY:
            return "NOT PROTECTED: the original waveform is still there."
        if self.near:
            return f"NOT PROTECTED: passages of the original are still there ({self.near})."
        if top.llr > CLEAR:
            return f"NOT PROTECTED: to the {top.attacker} attacker this is {top.words}."
        if top.llr > WEAK:
            return f"HARDLY PROTECTED: to the {top.attacker} attacker this is {top.words}."
        return (
            f"These attackers did not recognise this pair (the strongest, {top.attacker}: "
            f"{top.words}). Others may: one recording proves no protection."
        )


def _once_in(times: float) -> str:
    """Frequency of success in words."""
    return "nearly always" if times < 1.05 else f"about once in {times:,.{times < 10:d}f}"


def audit(
    original: Path,
    anonymized: Path,
    verifiers: Sequence[Verifier],
    system: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
    pool: Sequence[Recording] = (),
    left_out: LeftOut = STRICT,
) -> Audit:
    """Attacks one pair of recordings.

    Args:
        original, anonymized: files.
        verifiers: of the attackers; each attacker's best one counts.
        system: of the output, if known: attackers who know it run too.
        parameters: of the system.
        say: receives a line of progress.
        pool: original speech of other speakers, to calibrate verifiers without a calibration of
            their own (:func:`calibrated`).
        left_out: collects recordings of the pool that fail; the default raises at the first one.

    Raises:
        VoicenymError: files that cannot be read, unknown systems, or a verifier without calibration
            and without a pool to calibrate it.
    """
    who = "speaker"
    before = Recording("original", who, original)
    after = Recording("anonymized", who, anonymized)
    plain, hidden = before.samples(), after.samples()
    voices = [
        _CalibratedVerifier(verifier, *_meaning(verifier, pool, say, left_out))
        for verifier in verifiers
    ]
    say("embedding")
    forms = {"ignorant": hidden, **{f"de-noising ({n})": f(hidden) for n, f in denoisers().items()}}
    seen: dict[str, list[float]] = {name: [] for name in forms}
    for voice in voices:
        ratios = voice.ratios(plain, list(forms.values()))
        for name, ratio in zip(forms, ratios, strict=True):
            seen[name].append(float(ratio))
    settings = dict(parameters or {})
    if system is not None:
        say(f"searching {KEYS} keys of {label(system, settings)}")
        # Not secret: the attacker guesses voices, and the same ones in every run.
        key = Key(hashlib.sha256(b"voicenym audit").digest(), None)
        guesses = [
            Anonymize(system, guess, EVERYBODY, tuple(sorted(settings.items())))(plain, before)
            for guess in candidate_keys(key, KEYS)
        ]
        seen["key search"] = [_marginal(voice, guesses, hidden) for voice in voices]
        undone = [undo(hidden, after) for undo in inversions(system, settings)]
        if undone:
            say(f"undoing {system}")
            seen["inversion"] = [_marginal(voice, undone, plain) for voice in voices]
    sights = [Sight(name, max(ratios)) for name, ratios in seen.items()]
    return Audit(
        tuple(sorted(sights, key=lambda s: -s.llr)),
        copied(plain, hidden),
        (_median_pitch(plain), _median_pitch(hidden)),
        tags(anonymized),
        (len(plain) / RATE, len(hidden) / RATE),
        nearness(
            _Loaded(plain), _Loaded(hidden), None if system is None else load(system, **settings)
        ),
    )


@dataclass(frozen=True)
class _Loaded:
    """A recording in memory as :class:`voicenym.corpus.nearness.stored_nearness.StoredSound`.

    Args:
        sound: ``[time]`` at :data:`RATE`.
    """

    sound: np.ndarray
    rate: int = RATE
    channels: int = 1

    @property
    def samples(self) -> int:
        return len(self.sound)

    def blocks(self) -> Iterator[np.ndarray]:
        for begin in range(0, len(self.sound), RATE):
            yield self.sound[None, begin : begin + RATE]


@dataclass(frozen=True)
class _CalibratedVerifier:
    """A verifier with the map from its scores to log-likelihood ratios.

    Args:
        verifier: that scores.
        slope, offset: from its score to a log-likelihood ratio in nats.
    """

    verifier: Verifier
    slope: float
    offset: float

    def ratios(self, one: np.ndarray, others: list[np.ndarray]) -> np.ndarray:
        """Log-likelihood ratios in nats of a recording and each of others."""
        vectors = self.verifier.embed([one, *others])
        found: np.ndarray = self.verifier.score([vectors[:1]], vectors[1:])[0]
        if np.isnan(found).any():  # which is neither side, and would look like a failure to find
            raise VoicenymError(
                f"{self.verifier.name}: its score of the recordings is not a number; audit with "
                "another verifier"
            )
        return self.slope * found + self.offset


def _marginal(voice: _CalibratedVerifier, guesses: list[np.ndarray], other: np.ndarray) -> float:
    """Log of the mean likelihood ratio over guesses."""
    from scipy.special import logsumexp

    ratios = voice.ratios(other, guesses)
    return float(logsumexp(ratios) - math.log(len(ratios)))


def _meaning(
    verifier: Verifier,
    pool: Sequence[Recording],
    say: Callable[[str], None],
    left_out: LeftOut,
) -> tuple[float, float]:
    """Calibration of a verifier: its own, or one from the pool."""
    if math.isfinite(verifier.calibration[0]):
        return verifier.calibration
    if not pool:
        raise VoicenymError(
            f"{verifier.name}: its scores are not calibrated, so that no likelihood ratio follows "
            "from them; give original speech of other people to calibrate them (--pool FOLDER), or "
            "audit with another verifier"
        )
    say(f"calibrating the scores of {verifier.name} on {counted(len(pool), 'recording')}")
    return calibrated(verifier, pool, left_out)


def calibrated(
    verifier: Verifier, pool: Sequence[Recording], left_out: LeftOut = STRICT
) -> tuple[float, float]:
    """Slope and offset from the score of two recordings to a log-likelihood ratio in nats.

    Logistic regression on all pairs of single recordings, as the audit compares them; pairs of two
    people are of one sex if sex is known.

    Args:
        verifier: that scores.
        pool: original speech.
        left_out: collects recordings that fail; the default raises at the first one.

    Raises:
        VoicenymError: no pair of one speaker, or none of two speakers.
    """
    vectors, embedded = Embedder(left_out=left_out).kept(verifier, pool)
    scores = verifier.score([vector[None] for vector in vectors], vectors)
    who, sex = (np.array([getattr(r, what) for r in embedded]) for what in ("speaker", "sex"))
    once = np.triu(np.ones(scores.shape, dtype=bool), 1)
    same = who[:, None] == who
    target, nontarget = scores[once & same], scores[once & ~same & (sex[:, None] == sex)]
    if not target.size or not nontarget.size:
        raise VoicenymError(
            "--pool: needs two speakers of one sex at least, and one with two recordings, to learn "
            "what scores mean"
        )
    found = Affine.fit(target, nontarget)
    return found.slope, found.offset


def copied(one: np.ndarray, other: np.ndarray) -> float:
    """Largest magnitude of the correlation of two waveforms, over all shifts."""
    from scipy.signal import fftconvolve

    correlation = fftconvolve(one.astype(np.float64), other[::-1].astype(np.float64))
    energy = math.sqrt(float(np.sum(one.astype(float) ** 2) * np.sum(other.astype(float) ** 2)))
    return float(np.abs(correlation).max() / max(energy, 1e-30))


def _median_pitch(samples: np.ndarray) -> float | None:
    f0 = pitch.track(samples, RATE)
    voiced = f0[f0 > 0]
    return float(np.median(voiced)) if voiced.size > 10 else None


def tags(path: Path) -> tuple[str, ...]:
    """Names and values of a file's tags, without those that every encoder writes."""
    from voicenym.audio.container_files import container_detection
    from voicenym.audio.sources import libav

    ordinary = {"encoder", "major_brand", "minor_version", "compatible_brands", "duration"}
    ordinary |= {"handler_name", "vendor_id", "language"}
    with path.open("rb") as file:
        demuxer = container_detection.demuxer(file)
        if demuxer is None:
            return ()  # whose sound could not have been read either
        container = libav.open_input(file, demuxer)
        found = dict(container.metadata)
        for stream in container.streams:
            found.update(stream.metadata)
    return tuple(
        f"{name}: {value}" for name, value in found.items() if name.lower() not in ordinary
    )
