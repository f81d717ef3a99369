"""Phases of a phase vocoder, locked to the peaks of spectra, for frames in single precision.

From one frame to the next, H_a samples later, the phase of bin k advances by H_a w_k + d with d
within half a turn of zero, and is to advance by H_s (w_k + d / H_a) instead. What spectra are
turned by therefore grows by

    (H_s - H_a) w_k + (H_s / H_a - 1) d,    d = arg(X(m) X*(m - 1) exp(-j H_a w_k)),

which needs one arc tangent. Only peaks need it: the bins around a peak turn with it.

Laroche and Dolson, "Improved phase vocoder time-scale modification of audio", IEEE Trans. Speech
and Audio Processing 7 (1999): identity phase locking.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy
import torch

BESIDE = 2
"""Bins on either side of a peak, which it exceeds."""


class LockedPhases:
    """Turns consecutive spectra of one signal for another hop; keeps the phases in between.

    Results do not depend on how many spectra come at once.

    Args:
        size: of the Fourier transform, even.
        analysis: H_a, hop of the spectra in samples.
        synthesis: H_s, hop at which their inverse transforms will be added up.
    """

    def __init__(self, size: int, analysis: int, synthesis: int) -> None:
        self._bins = bins = size // 2 + 1
        k = numpy.arange(bins)
        # products of integers, so that no precision is lost at many turns
        self._advances = numpy.exp(-2j * math.pi / size * (k * analysis % size)).astype("complex64")
        self._steps = 2.0 * math.pi / size * (k * (synthesis - analysis) % size)
        self._share = synthesis / analysis - 1.0
        self._last = numpy.zeros(bins, numpy.complex64)
        self._rotation = numpy.zeros(bins)

    def turn(self, spectra: torch.Tensor, power: torch.Tensor, gain: torch.Tensor | None) -> None:
        """Turns spectra in place.

        Args:
            spectra: ``[frame, bin]`` complex64, contiguous, at least one.
            power: squares of their magnitudes, as of :func:`regions`.
            gain: factor of each spectrum, ``[frame]``, or None for one.
        """
        flat = spectra.view(-1).numpy()
        found = regions(power)
        turns = self._summed(self._growth(flat, found), found)
        self._last = flat[-self._bins :].copy()
        self._rotation = turns.take(found.owner[-self._bins :])
        angle = torch.from_numpy(turns).float()
        factors = torch.empty(len(turns), dtype=torch.complex64)
        torch.cos(angle, out=factors.real)
        torch.sin(angle, out=factors.imag)
        if gain is not None:
            factors.mul_(torch.from_numpy(numpy.repeat(gain.numpy(), found.counts)))
        numpy.multiply(flat, factors.numpy().take(found.owner), out=flat)

    def _growth(self, flat: numpy.ndarray, found: Regions) -> numpy.ndarray:
        """What the turn of each peak grows by, ``[peak]`` in radians."""
        peaks, first = found.peaks, int(found.counts[0])
        now = flat.take(peaks)
        before = numpy.empty_like(now)
        before[:first] = self._last.take(peaks[:first])
        before[first:] = flat.take(peaks[first:] - self._bins)
        now *= self._advances.take(found.bins)
        now *= numpy.conjugate(before, out=before)
        now += 0.0  # the angle of zero is zero, whatever the signs of its parts
        deviation = numpy.arctan2(now.imag, now.real)
        return self._steps.take(found.bins) + self._share * deviation

    def _summed(self, steps: numpy.ndarray, found: Regions) -> numpy.ndarray:
        """Sums of the steps over frames, within half a turn of zero; each peak continues the sum
        that its bin had in the frame before.
        """
        first = int(found.counts[0])
        steps[:first] += self._rotation.take(found.peaks[:first])
        source = found.owner.take(found.peaks[first:] - self._bins)
        # a frame follows from the one before
        for one, other in pairwise(numpy.cumsum(found.counts).tolist()):
            frame = steps[one:other]
            frame += steps.take(source[one - first : other - first])
        steps -= numpy.rint(steps / (2.0 * math.pi)) * (2.0 * math.pi)
        return steps


class Regions(NamedTuple):
    """Spectral peaks of frames, and the peak nearest to each bin."""

    peaks: numpy.ndarray
    """Places in the flattened spectra, in rising order, ``[peak]``."""
    bins: numpy.ndarray
    """The same in their own spectra, ``[peak]``."""
    counts: numpy.ndarray
    """How many each spectrum has, ``[frame]``."""
    owner: numpy.ndarray
    """Number of the nearest peak, the lower of two, of every bin, ``[frame * bin]``."""


def regions(power: torch.Tensor) -> Regions:
    """Finds the bins that are larger than two on either side; bin 0 stands for the peaks of a
    spectrum that has none.

    Args:
        power: of spectra, ``[frame, 2 + bin + 2]``, contiguous, -1 beside the bins.
    """
    frames, width = power.shape
    bins = width - 2 * BESIDE
    flat = power.view(-1)
    two = torch.maximum(flat[:-1], flat[1:])
    mask = numpy.zeros(frames * width, numpy.bool_)
    inner = torch.from_numpy(mask[BESIDE:-BESIDE])
    torch.gt(flat[BESIDE:-BESIDE], torch.maximum(two[:-3], two[3:]), out=inner)
    edges = numpy.arange(frames + 1)
    places = numpy.flatnonzero(mask)
    stops = numpy.searchsorted(places, edges * width)
    counts = stops[1:] - stops[:-1]
    if not counts.all():
        mask[width * numpy.flatnonzero(counts == 0) + BESIDE] = True
        places = numpy.flatnonzero(mask)
        stops = numpy.searchsorted(places, edges * width)
        counts = stops[1:] - stops[:-1]
    frame = numpy.repeat(edges[:-1], counts)
    frame *= bins
    peaks = places - BESIDE
    peaks -= numpy.repeat(edges[:-1] * (width - bins), counts)
    # regions begin behind the middle between two peaks, or with their spectrum
    starts = peaks[:-1] + peaks[1:]
    starts >>= 1
    starts += 1
    starts[stops[1:-1] - 1] = edges[1:-1] * bins
    owner = numpy.zeros(frames * bins, numpy.int64)
    owner[starts] = 1
    return Regions(peaks, peaks - frame, counts, numpy.cumsum(owner, out=owner))
