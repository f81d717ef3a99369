"""``recast``, voicenym's own classical system: envelope, F0 and voice source replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Card, Core, Profiler
from voicenym.anonymizer.live_delay import SHORT, USUAL, check_delay
from voicenym.dsp.envelopes import envelope
from voicenym.dsp.envelopes.average_voice import AverageVoice, AverageVoiceReader, EnvelopeFrames
from voicenym.dsp.envelopes.frequency_warps import bent_bins
from voicenym.dsp.envelopes.typical_envelope import (
    MEAN_CEPSTRUM,
    REFERENCE_RATE,
    around_average,
    reference_envelope,
)
from voicenym.dsp.mixed_excitation import MixedExcitation
from voicenym.dsp.overlap_add import OverlapAdd
from voicenym.dsp.pitch.f0_statistics import (
    TYPICAL_LOG_F0,
    moments,
    moved_within,
    register,
    typical,
)
from voicenym.dsp.pitch.frame_voicing import FrameVoicing
from voicenym.dsp.pitch.online import Pitch, PitchStream
from voicenym.dsp.pitch.recorded_pitch import PitchFollower
from voicenym.dsp.voice_source import Noise, PulseTrain
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Pseudonym

TRACT_PER_PITCH = 0.28
"""Change of log formant frequency per change of log F0 from one speaker to another: women's F0 is
1.7 times men's and their formants 1.16 times (ln 1.16 / ln 1.7)."""
TYPICAL_LEVEL = 0.0225
"""RMS of ordinary speech, -33 dBFS."""
PRIOR_SECONDS = 1.0
"""Weight of the typical voice at the start of a live stream, in seconds of speech."""

SHORT_FRAMES = (0.010, 2)
"""Hop in seconds, and hops of a frame, of live streams with a short delay."""
SHORT_LOOKAHEAD = 1
"""Frames that the F0 tracker looks ahead with a short delay; each makes F0 10 ms later."""


@dataclass(frozen=True)
class Recast(Anonymizer):
    """Replaces the speaker's constant properties by drawn ones and resynthesises the voice source.

    1. The mean log spectral envelope of the recording is subtracted and a drawn one is added.
    2. The frequency axis of the envelope is warped: a vocal-tract length that fits the drawn pitch,
       a random deviation from it, and random smooth bends.
    3. ln F0 is transformed to a drawn mean and deviation.
    4. The voice source is synthesized: pulses below a drawn frequency, noise above it, minimum
       phase. Only 1.8 ms of cepstrum and the frame energies of the original reach the output; no
       sample, phase or harmonic does.

    A first pass over a file computes its averages; a live stream uses running averages.

    Args:
        register_low, register_high: limits of the drawn mean F0 in Hz.
        length: largest random change of log formant frequency, added to the change that fits the
            pitch.
        bend: size of the random bends of the frequency axis, in radians.
        colour: deviation of the drawn mean envelope from the average one, in standard deviations of
            real speakers.
        delay: of live streams: ``usual``, or ``short``, with which the sound comes 0.11 s sooner
            and F0 0.05 s after it; frames of 20 ms decide themselves whether they are voiced.
    """

    register_low: float = 90.0
    register_high: float = 230.0
    length: float = 0.08
    bend: float = 0.06
    colour: float = 1.0
    delay: str = USUAL

    unnamed_values: ClassVar[Mapping[str, Any]] = {"delay": USUAL}
    profile_type: ClassVar[type] = AverageVoice
    running_averages: ClassVar[bool] = True
    card: ClassVar[Card] = Card(
        name="recast",
        title="Mean envelope and F0 statistics replaced by drawn ones, voice source synthesized",
        paper="voicenym's own composition of known parts: cepstral mean normalisation, vocal-tract "
        "length warping, F0 statistics transfer, source-filter synthesis; true envelope: "
        "Röbel and Rodet, DAFx 2005",
        year=2026,
        equations=(
            "L'(w) = L(h(w)) - mean L(h(w)) + T(w), T drawn around the average of real speakers",
            "h: bilinear with slope exp(-0.28 (mu' - mu) - u), plus sum_k a_k sin(k w)",
            "ln F0' = mu' + s (ln F0 - mu)",
            "source: sum_k cos(k phi) below a drawn frequency, white noise above; minimum phase",
        ),
        needs="no weights; 8 kHz or more; CPU or GPU; two passes over a file, running averages "
        "when live",
        protects="ignorant verifiers in part, and hardly those who know the system but not the key",
        promises=(
            "length, channels, level contour, rhythm and the direction of intonation are kept",
            "neither the fine structure of the voice source nor its phase is in the output",
        ),
        fails=(
            "an attacker who has other recordings of a speaker and tries many keys re-identifies "
            "most speakers",
            "formant movements, accent, rhythm and words remain the speaker's: an attacker who "
            "trains on its output is not stopped",
            "the output sounds vocoded; music and overlapping talkers are reproduced badly",
            "live, the first seconds of a stream are anonymized with a typical voice's averages; "
            "with delay=short the pitch follows 0.05 s late",
        ),
    )

    def __post_init__(self) -> None:
        if not 50.0 <= self.register_low < self.register_high <= 400.0:
            raise UnknownSystemError(
                "recast: register needs 50 <= register_low < register_high <= 400 Hz, not "
                f"{self.register_low} and {self.register_high}"
            )
        for name, most in (("length", 0.3), ("bend", 0.3), ("colour", 3.0)):
            if not 0.0 <= getattr(self, name) <= most:
                raise UnknownSystemError(
                    f"recast: {name} must be from 0 to {most}, not {getattr(self, name)}"
                )
        check_delay(self.card.name, self.delay)

    def median_f0(self, pseudonym: Pseudonym) -> float:
        return math.exp(self.mean_log_f0(pseudonym))

    def mean_log_f0(self, pseudonym: Pseudonym) -> float:
        """Mean ln F0 of a pseudonym's voice."""
        low, high = math.log(self.register_low), math.log(self.register_high)
        return pseudonym.uniform("recast.register", low, high)

    @property
    def needs_profile(self) -> bool:
        return True

    @property
    def profile_optional(self) -> bool:
        return True

    @property
    def profile_kind(self) -> str:
        return "average voice"

    def profiler(self, rows: int, rate: int, lengths: Sequence[int] | None) -> Profiler:
        return AverageVoiceReader(rows, rate, lengths, self.device)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        return _Core(self, pseudonyms, rate, profile)


class _Core:
    """Analysis, modification and synthesis; the source follows the pitch tracker's frames."""

    def __init__(
        self,
        system: Recast,
        pseudonyms: Sequence[Pseudonym],
        rate: int,
        profile: AverageVoice | None,
    ) -> None:
        device, rows = system.device, len(pseudonyms)
        self._rate, self._rows = rate, rows
        short = profile is None and system.delay == SHORT
        self._frames = EnvelopeFrames(rate, device, *(SHORT_FRAMES if short else ()))
        track = None if profile is None else profile.pitch
        self._pitch: PitchStream | PitchFollower = (
            PitchStream(rows, rate, lookahead=SHORT_LOOKAHEAD, device=device)
            if short
            else PitchFollower(rows, rate, track, device)
        )
        self._pitch_hop = self._pitch.hop
        self._pulses = PulseTrain(rows, rate, device)
        self._noise = Noise(pseudonyms, "recast.noise", device)
        self._profile = profile
        # signal, pulses, noise, voicing and, without a profile, the average of ln F0
        self._groups = 4 if profile is not None else 5
        cut = self._frames
        self._voicing = FrameVoicing(rows, cut.length, cut.hop, rate, device) if short else None
        self._overlap = OverlapAdd(
            self._groups * rows, cut.length, cut.hop, self._process, device, outputs=rows
        )

        def draw(name: str, low: float, high: float) -> torch.Tensor:
            values = [p.uniform(f"recast.{name}", low, high) for p in pseudonyms]
            return torch.tensor(values, device=device)

        self._register = torch.tensor([system.mean_log_f0(p) for p in pseudonyms], device=device)
        self._range = draw("range", 0.12, 0.24)
        self._length = draw("length", -system.length, system.length)
        cutoff = draw("cutoff", 3000.0, 6000.0)
        self._excitation = MixedExcitation(cutoff, rate, self._frames.bins)
        bends = [p.uniforms("recast.bends", 3, -1.0, 1.0) for p in pseudonyms]
        sizes = system.bend / torch.tensor([1.0, 2.0, 3.0])
        self._bends = (torch.tensor(bends) * sizes).to(device)
        colours = [p.normals("recast.colour", len(MEAN_CEPSTRUM)) for p in pseudonyms]
        cepstrum = around_average(torch.tensor(colours), system.colour)
        self._target = reference_envelope(cepstrum, self._frames.bins, rate).to(device)
        average = torch.tensor([MEAN_CEPSTRUM]).expand(rows, -1)
        self._prior = reference_envelope(average, self._frames.bins, rate).to(device)

        # running averages for live use, initialised with a typical voice
        frames_per_second = rate / self._frames.hop
        weight = PRIOR_SECONDS * frames_per_second * TYPICAL_LEVEL**0.5
        self._mean = (weight * self._prior).double()
        self._mean_weight = torch.full((rows, 1), weight, dtype=torch.float64, device=device)
        count = PRIOR_SECONDS * rate / self._pitch_hop * TYPICAL_LEVEL
        self._f0_sums = typical(count).to(device).repeat(rows, 1)

        self._seen = 0  # frames so far
        self._remaining = 0  # samples that were pushed and not yet given back
        self._pending = torch.zeros(rows, 0, device=device)
        # with a short delay F0 is so many frames late, and nothing waits for it
        wait = self._pitch.latency + self._pitch_hop
        late = -(-wait // self._pitch_hop) if short else 0
        self._last_f0 = self._register.exp()[:, None].clone()
        # targets not yet used, from the last used on, and the samples since that one
        self._f0 = self._last_f0.repeat(1, late)
        self._voiced = torch.zeros(rows, late, device=device)
        self._mean_f0 = torch.zeros(rows, late, device=device)  # ln, above the typical one
        self._within = 0
        self.latency = self._overlap.latency + (0 if short else wait)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        self._remaining += block.shape[1]
        self._pending = torch.cat([self._pending, block], dim=1)
        self._contour(self._pitch.push(block))
        out = self._synthesize()
        self._remaining -= out.shape[1]
        return out

    def flush(self) -> torch.Tensor:
        remaining = self._remaining
        silence = self._pending.new_zeros(self._rows, self.latency + self._pitch_hop)
        return self.push(silence)[:, :remaining]

    def _contour(self, pitch: Pitch) -> None:
        """Target F0 frames from source F0 frames; unvoiced frames hold the last voiced value."""
        f0 = pitch.f0
        if f0.shape[1] == 0:
            return
        voiced = f0 > 0
        if self._profile is not None:
            mean = self._profile.log_f0.double()[:, None]
            std = self._profile.log_f0_std.double()[:, None]
        else:
            sums = moments(f0, pitch.level).cumsum(1) + self._f0_sums[:, None]
            self._f0_sums = sums[:, -1].clone()
            mean, std = register(sums)
            self._mean_f0 = torch.cat([self._mean_f0, (mean - TYPICAL_LOG_F0).float()], dim=1)
        target = moved_within(f0.double(), mean, std, self._register, self._range).float()
        # hold the last voiced value: index of the last voiced frame so far, 0 is the one before
        held = torch.cat([self._last_f0, target], dim=1)
        index = torch.arange(1, held.shape[1], device=f0.device) * voiced
        held = held.gather(1, index.cummax(dim=1).values)
        self._last_f0 = held[:, -1:].clone()
        self._f0 = torch.cat([self._f0, held], dim=1)
        self._voiced = torch.cat([self._voiced, voiced.float()], dim=1)

    def _synthesize(self) -> torch.Tensor:
        """Synthesises the pending samples that lie between known pitch frames."""
        hop = self._pitch_hop
        known = max(0, self._f0.shape[1] - 1) * hop - self._within
        ready = min(max(0, known), self._pending.shape[1])
        if ready == 0:
            empty = self._pending.new_zeros(self._groups * self._rows, 0)
            return self._overlap.push(empty)
        first, last = self._within, self._within + ready
        steps = -(-last // hop)
        share = torch.arange(hop, device=self._pending.device) / hop

        def per_sample(values: torch.Tensor) -> torch.Tensor:
            left, right = values[:, :steps, None], values[:, 1 : steps + 1, None]
            return (left + (right - left) * share).reshape(self._rows, -1)[:, first:last]

        f0, voiced = per_sample(self._f0), per_sample(self._voiced)
        stacked = [self._pending[:, :ready], self._pulses.next(f0), self._noise.next(ready), voiced]
        if self._profile is None:
            stacked.append(per_sample(self._mean_f0))
            self._mean_f0 = self._mean_f0[:, last // hop :]
        self._pending = self._pending[:, ready:]
        self._f0, self._voiced = self._f0[:, last // hop :], self._voiced[:, last // hop :]
        self._within = last % hop
        return self._overlap.push(torch.cat(stacked))

    def _process(self, stacked: torch.Tensor) -> torch.Tensor:
        """Output frames ``[row, frame, length]`` from those of all groups, ``[group row, frame,
        length]``.
        """
        sizes, rows = self._frames, self._rows
        signal, pulses, noise, voicing, *means = stacked.unflatten(0, (self._groups, rows))
        windowed = signal * sizes.window
        log_envelope = self._envelopes(signal, windowed)
        mean = self._average(log_envelope, windowed)
        # a frame's last sample has the newest average; before the first sample it is typical
        log_f0 = (
            self._profile.log_f0[:, None]
            if self._profile is not None
            else TYPICAL_LOG_F0 + means[0][..., -1]
        )
        positions = self._positions(log_f0)
        change = log_envelope - mean
        changed = envelope.warp_bins(change, positions) + self._target[:, None]
        filters = envelope.minimum_phase(changed)

        voiced = voicing[..., sizes.length // 2]
        if self._voicing is not None:
            voiced = self._voicing(signal, voiced)
        harmonic, noisy = self._excitation(voiced)
        source = _weighted(torch.fft.rfft(pulses * sizes.window), harmonic)
        source += _weighted(torch.fft.rfft(noise * sizes.window), noisy)
        made = torch.fft.irfft(source.mul_(filters), n=sizes.length)
        # sqrt-Hann twice adds up to half the number of hops in a window
        return envelope.keep_energy(
            made.mul_(sizes.window), windowed.mul_(sizes.window), 2 * sizes.hop / sizes.length
        )

    def _envelopes(self, signal: torch.Tensor, windowed: torch.Tensor) -> torch.Tensor:
        """Log envelopes ``[row, frame, bin]`` of frames; the first pass may have some already."""
        first, hop = self._seen, self._frames.hop
        self._seen += signal.shape[1]
        known = None
        if self._profile is not None:
            known = self._profile.known_envelopes(first, signal[..., -hop:])
        if known is None:
            return self._frames.envelope(windowed)
        missing = windowed[:, known.shape[1] :]
        if missing.shape[1] == 0:
            return known
        return torch.cat([known, self._frames.envelope(missing)], dim=1)

    def _average(self, log_envelope: torch.Tensor, windowed: torch.Tensor) -> torch.Tensor:
        """Mean log envelope ``[row, frame or 1, bin]`` of the recording or of the stream so far."""
        if self._profile is not None:
            return self._profile.log_envelope[:, None]
        weight = self._frames.weight(windowed)[..., None].double()
        sums = (log_envelope * weight).cumsum(1) + self._mean[:, None]
        weights = weight.cumsum(1) + self._mean_weight[:, None]
        self._mean, self._mean_weight = sums[:, -1].clone(), weights[:, -1].clone()
        return (sums / weights).float()

    def _positions(self, log_f0: torch.Tensor) -> torch.Tensor:
        """Source bins ``[row, frame or 1, bin]``, by mean ln F0 ``[row, frame or 1]``."""
        top = math.pi * self._rate / REFERENCE_RATE
        change = TRACT_PER_PITCH * (self._register[:, None] - log_f0) + self._length[:, None]
        return bent_bins(change, self._bends, top, self._frames.bins)


def _weighted(spectra: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Spectra times real weights, in place."""
    return spectra.mul_(weights)
