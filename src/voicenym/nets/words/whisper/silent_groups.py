"""States of Whisper's encoder for a window of speech and silence, whose silence is computed in
groups.

Whisper fills a window of 30 s with silence, and the encoder learned to find it there: without it,
or with a second of it, recordings of some seconds lose words. States of silence differ by their
position alone. Here :data:`GROUP` of them are computed as one, at their mean position, and the
others attend to it as to so many: the attention to a key of multiplicity m has the weight
m exp(q k / sqrt(d)), so that ln m is added to the exponent. A recording of 4 s costs a fifth of a
window of 30 s.
"""

from __future__ import annotations

import torch

from voicenym.nets.words.whisper.whisper import Encoder

GROUP = 8
"""States of silence that are computed as one: 0.16 s."""
NEAR = 10
"""States of silence behind the speech that are computed one by one: 0.2 s."""
EDGE = 4
"""States beyond them that the convolutions see; no more than half of these is needed."""


def spectral_states(encoder: Encoder, count: int) -> int:
    """States of the spectra that :func:`states_before_silence` needs for ``count`` states."""
    few = encoder.states - count - NEAR < max(EDGE, 2 * GROUP)  # nothing to gain
    return encoder.states if few else count + NEAR + EDGE


def states_before_silence(encoder: Encoder, spectra: torch.Tensor, count: int) -> torch.Tensor:
    """States ``[row, count, width]``, near those of a whole window.

    Args:
        encoder: of Whisper.
        spectra: of waveforms of ``count`` states at most, with silence behind them:
            ``[row, band, 2 * state]`` of :func:`spectral_states`.
        count: states that are wanted, up to the encoder's own number.
    """
    if spectra.shape[2] == 2 * encoder.states:
        return encoder(spectra, count)
    embedded, weights = _embedded(encoder, spectra, count)
    return encoder.transformed(embedded, count, weights)


def states_with_silence(
    encoder: Encoder, spectra: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """States ``[row, state, width]`` of a whole window whose silence is in groups, and the
    logarithm ``[state]`` of how many each stands for, for a decoder; None where each is one.

    Args:
        encoder, spectra, count: as of :func:`states_before_silence`.
    """
    if spectra.shape[2] == 2 * encoder.states:
        return encoder(spectra), None
    embedded, weights = _embedded(encoder, spectra, count)
    return encoder.transformed(embedded, None, weights), weights


def _embedded(
    encoder: Encoder, spectra: torch.Tensor, count: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Input of the first layer ``[row, state, width]``, silence in groups, and the logarithms of
    their sizes.
    """
    own = count + NEAR
    found = encoder.convolved(spectra)
    silence = found[:, own : own + 1]  # of each row: its loudest place sets the floor
    groups = encoder.positions[own:].split(GROUP)
    positions = torch.stack([group.mean(0) for group in groups])
    sizes = torch.tensor([len(group) for group in groups], device=found.device)
    weights = torch.cat([sizes.new_zeros(own), sizes.log()])
    return torch.cat([found[:, :own] + encoder.positions[:own], silence + positions], 1), weights
