"""TD-PSOLA followed by a warp of the spectral envelope, at the energy of the original frames."""

from __future__ import annotations

import numpy
import torch

from voicenym.dsp.envelopes import envelope
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.dsp.pitch_changes.psola import Psola


class PsolaEnvelopeWarp:
    """TD-PSOLA, then a warp of the spectral envelope; frame energies are those of the original.

    Args:
        psola: of all rows.
        warps: for each row, knots of the warp ``[2, knot]`` (target above source, in Hz), middles
            of bands in Hz, and the bands' changes of level in dB.
        rate: in Hz.
        device: of the warp.
    """

    def __init__(
        self,
        psola: Psola,
        warps: list[tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]],
        rate: int,
        device: str,
    ) -> None:
        hop = round(0.008 * rate)
        length = 4 * hop
        bins = length // 2 + 1
        hertz = numpy.linspace(0.0, rate / 2, bins)
        positions = [numpy.interp(hertz, *knots) / (rate / 2) * (bins - 1) for knots, _, _ in warps]
        changes = [
            numpy.interp(hertz, middles, change) * numpy.log(10.0) / 20.0
            for _, middles, change in warps
        ]
        self._positions = torch.tensor(numpy.array(positions), dtype=torch.float32, device=device)
        self._changes = torch.tensor(numpy.array(changes), dtype=torch.float32, device=device)
        self._window = root_hann(length).to(device)
        self._coefficients = round(envelope.QUEFRENCY * rate)
        self._psola = psola
        self._rows = len(warps)
        self._device = device
        rows = self._rows
        self._overlap = OverlapAdd(2 * rows, length, hop, self._process, device, outputs=rows)
        self._original = torch.zeros(self._rows, 0)
        self._pushed = 0
        self._returned = 0
        # a changed tempo leaves no frame of the original to compare with
        self._same_times = psola.lengths(1_000_000) == [1_000_000] * self._rows
        self.latency = psola.latency + self._overlap.latency

    def lengths(self, samples: int) -> list[int]:
        """Output lengths in samples for input lengths; they differ where the tempo changes."""
        return self._psola.lengths(samples)

    def push(self, block: torch.Tensor) -> torch.Tensor:
        block = block.cpu()
        self._pushed += block.shape[1]
        out = self._shape(block, self._psola.push(block))
        self._returned += out.shape[1]
        return out

    def flush(self) -> torch.Tensor:
        # what rings after the end is in the last frames too, as it would be in a longer batch
        total = max(self.lengths(self._pushed))
        extra = self._overlap.length
        last = self._shape(self._original.new_zeros(self._rows, extra), self._psola.flush(extra))
        rest = torch.cat([last, self._overlap.flush()], dim=1)
        return rest[:, : total - self._returned]

    def _shape(self, block: torch.Tensor, spectra: torch.Tensor) -> torch.Tensor:
        count = spectra.shape[1]
        if self._same_times:
            self._original = torch.cat([self._original, block], dim=1)
            reference, self._original = self._original[:, :count], self._original[:, count:]
        else:
            reference = spectra
        stacked = torch.cat([spectra, reference]).to(self._device)
        return self._overlap.push(stacked)

    def _process(self, frames: torch.Tensor) -> torch.Tensor:
        windowed = frames * self._window
        retuned, original = windowed[: self._rows], windowed[self._rows :]
        spectrum = torch.fft.rfft(retuned)
        before = envelope.of_spectrum(spectrum, self._coefficients)
        gain = envelope.warp_bins(before, self._positions).sub_(before).add_(self._changes[:, None])
        gain = gain.clamp_(-envelope.MAX_GAIN, envelope.MAX_GAIN).exp_()
        changed = torch.fft.irfft(spectrum.mul_(gain), n=frames.shape[-1])
        # sqrt-Hann twice at a hop of a quarter adds up to two
        return envelope.keep_energy(changed, original, 0.5).mul_(self._window)
