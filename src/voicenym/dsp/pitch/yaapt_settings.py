"""Parameters of YAAPT (Zahorian and Hu, JASA 123(6), 2008)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class YaaptSettings:
    """Parameters of the tracker; the defaults are the published ones.

    Args:
        lowest, highest: limits of F0 in Hz.
        frame: in seconds.
        hop: from frame to frame, in seconds.
        band: limits in Hz of the band-pass filter of both signals.
        order: of this filter.
        points: of the Fourier transform at 16 kHz; fewer at a lower rate.
        voiced_energy: share of the mean low-frequency energy above which a frame counts for the
            rough track.
        unvoiced_energy: share below which a frame is unvoiced whatever is found.
        harmonics: in the product, beyond the fundamental.
        harmonic_window: in Hz, over which products are summed.
        spectral_peaks: candidates of a frame for the rough track.
        spectral_width: in Hz; window with one peak at most.
        flatness: no candidates where the mean exceeds the largest product over this.
        prominence: least peak, in means.
        rough_change: weight of changes of the rough track.
        least_deviation: of the rough track, relative to its mean.
        correlated: window of the cross-correlation, in seconds.
        least_share: least share of frames with energy that have a correlation candidate along the
            rough track; below it, the track is retried an octave lower.
        least_correlation: of a candidate.
        enough_correlation: a candidate of this correlation excludes all others.
        correlation_peaks: candidates of a frame from each signal.
        correlation_width: in samples at 16 kHz; window with one peak at most.
        boost: of candidates near the rough track.
        pivot: merit of the unvoiced candidate without energy.
        smoothing: frames of the median.
        voiced_change, onset, unvoiced: costs of a change of pitch relative to the mean, of a change
            of voicing, and of staying unvoiced.
        local: weight of a candidate's own merit.
    """

    lowest: float = 60.0
    highest: float = 400.0
    frame: float = 0.035
    hop: float = 0.010
    band: tuple[float, float] = (50.0, 1500.0)
    order: int = 150
    points: int = 8192
    voiced_energy: float = 0.75
    unvoiced_energy: float = 0.1
    harmonics: int = 3
    harmonic_window: float = 40.0
    spectral_peaks: int = 4
    spectral_width: float = 50.0
    flatness: float = 5.0
    prominence: float = 1.25
    rough_change: float = 11.0
    least_deviation: float = 0.05
    correlated: float = 0.025
    least_share: float = 0.5
    least_correlation: float = 0.3
    enough_correlation: float = 0.9
    correlation_peaks: int = 3
    correlation_width: int = 5
    boost: float = 0.2
    pivot: float = 0.99
    smoothing: int = 7
    voiced_change: float = 0.15
    onset: float = 0.5
    unvoiced: float = 0.1
    local: float = 0.9
