"""Formant and pitch vectors in Hz as speaker embeddings, measured without a trained network.

Yao et al., "Distinguishable speaker anonymization based on formant and fundamental frequency
scaling", ICASSP 2023 (arXiv 2211.03038), condition a synthesizer on formants and F0 instead of a
speaker embedding. The number of formants, the estimator and the frame rate are not published:
medians over the voiced frames of a recording, by linear prediction, are an approximation.
Frame-level variation stays in the content features and in the F0 contour.
"""

from __future__ import annotations

from typing import Any

import torch

from voicenym.dsp.envelopes import formants as resonances
from voicenym.dsp.features.fbank import HOP
from voicenym.dsp.pitch.online import PitchStream
from voicenym.dsp.resampling import RateChanger
from voicenym.nets.speakers.speaker_encoder import RATE, Encoder

LOWEST_F0, HIGHEST_F0 = 60.0, 450.0
TYPICAL_F0, TYPICAL_F1 = 150.0, 530.0
"""Hz, of a recording without voiced frames; higher formants as of a uniform tube. Means over 189
speakers of LibriSpeech and speechocean762, as measured here: 164, 464, 1546, 2707, 3743 Hz."""
SPREAD = (0.45, 0.25, 0.2, 0.13, 0.12, 0.12)
"""Standard deviations of F0, F1, ... over these speakers in octaves, rounded; F5's is F4's."""
POLES, WIDEST = 12, 800.0
"""Poles of a frame's model, and the greatest bandwidth of a formant in Hz. With the usual 10 poles,
vowels of scaled vocal tracts are up to 30 % off, and F3 and F4 of men and women of LibriSpeech
differ by 2 %; with these they differ by 11 and 12 % (2026-11-21).
"""
AT_ONCE = 512
"""Frames measured at once."""


def typical(size: int) -> torch.Tensor:
    """Default vector ``[F0, F1, ...]`` in Hz, of a uniform tube, ``[size]``."""
    tube = TYPICAL_F1 * (2.0 * torch.arange(1, size) - 1.0)
    return torch.cat([torch.tensor([TYPICAL_F0]), tube])


class Formants(Encoder):
    """Encoder of ``[F0, F1, ..., Fn]`` in Hz: medians over the loud voiced frames of a recording.

    With fewer than :data:`voicenym.dsp.envelopes.formants.FEWEST_FRAMES` frames, values are
    :func:`typical`. The encoder runs on the CPU and gives no gradients.

    Args:
        formants: n, 1 to 5.

    Raises:
        ValueError: another number.
    """

    kind = "formant-pitch"
    hertz = True
    window: torch.Tensor
    typical: torch.Tensor

    def __init__(self, formants: int = 4) -> None:
        super().__init__()
        if not 1 <= formants <= resonances.MOST:
            raise ValueError(f"1 to {resonances.MOST} formants are measured, not {formants}")
        self.size = 1 + formants
        self.register_buffer("window", resonances.window(resonances.RATE), persistent=False)
        self.register_buffer("typical", typical(self.size))

    def config(self) -> dict[str, Any]:
        return {"formants": self.size - 1}

    @torch.no_grad()
    def features(
        self, waveforms: torch.Tensor, lengths: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Frame-level values in Hz, ``[batch, 1 + time / 160, size]``, of ``[batch, time]`` at 16
        kHz.

        F0 is 0 in unvoiced or quiet frames; all formants are 0 in frames where one is missing.
        """
        signal = waveforms.detach().cpu().float()
        rows, time = signal.shape
        pitch = PitchStream(rows, RATE, LOWEST_F0, HIGHEST_F0)
        f0 = torch.cat([pitch.push(signal).f0, pitch.flush().f0], dim=1)
        if lengths is not None:  # what lies behind a row's end is padding
            f0 = f0 * (torch.arange(f0.shape[1]) * HOP < lengths.cpu()[:, None])
        down = RateChanger(RATE, resonances.RATE, rows)
        slow = torch.cat([down.push(signal), down.flush()], dim=1)
        window = self.window.cpu()
        side = len(window) // 2
        hop = HOP * resonances.RATE // RATE
        slow = torch.nn.functional.pad(slow, (side, side + hop))
        frames = slow.unfold(1, len(window), hop)[:, : f0.shape[1]]
        found = torch.zeros(rows, time // HOP + 1, self.size)
        loudest = torch.zeros(rows, 1, dtype=torch.float64)
        for first in range(0, f0.shape[1], AT_ONCE):
            span = slice(first, first + AT_ONCE)
            windowed = frames[:, span].double() * window
            power = torch.cat([loudest, windowed.square().sum(2)], dim=1)
            loudest = power.cummax(1).values
            voiced = (f0[:, span] > 0) & (
                power[:, 1:] > loudest[:, 1:] * 10.0 ** (-resonances.LOUD_DB / 10.0)
            )
            loudest = loudest[:, -1:]
            some = torch.zeros(*voiced.shape, self.size)
            some[..., 0] = f0[:, span] * voiced
            if voiced.any():
                places = resonances.formants(windowed[voiced], resonances.RATE, POLES, WIDEST)
                places = places[: self.size - 1]
                whole = torch.isfinite(places).all(0)
                some[..., 1:][voiced] = torch.where(whole, places, 0.0).T.float()
            found[:, first : first + some.shape[1]] = some[:, : found.shape[1] - first]
        return found.to(waveforms.device)

    def encode(self, features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Medians ``[batch, size]`` in Hz of frames ``[batch, frame, size]`` of
        :meth:`features`.
        """
        ends = [features.shape[1]] * len(features) if lengths is None else lengths.tolist()
        found = self.typical.to(features).repeat(len(features), 1)
        for row, end in enumerate(ends):
            for element, values in enumerate(features[row, : int(end)].unbind(1)):
                measured = values[values > 0]
                if len(measured) >= resonances.FEWEST_FRAMES:
                    found[row, element] = measured.quantile(0.5)
        return found


def octaves(vectors: torch.Tensor) -> torch.Tensor:
    """Frequencies scaled for a synthesizer: octaves from :func:`typical` ones, over :data:`SPREAD`.
    Over ordinary voices they have a deviation of about 1, as speaker vectors have.

    Args:
        vectors: ``[..., size]`` in Hz; elements of 0 or less become 0, the typical value.

    Raises:
        ValueError: more elements than F0 and five formants.
    """
    size = vectors.shape[-1]
    if size > len(SPREAD):
        raise ValueError(f"F0 and five formants at most, not {size} numbers")
    usual = typical(size).to(vectors)
    ratio = torch.where(vectors > 0, vectors / usual, 1.0)
    return ratio.log2() / vectors.new_tensor(SPREAD[:size])
