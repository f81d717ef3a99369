"""Energy-based speech activity detection.

The rule of Kaldi's recipes for i-vectors and x-vectors: a frame is loud if it exceeds a threshold
that rises with the mean of the recording; a frame is speech if enough of its neighbours are loud.
"""

from __future__ import annotations

import torch

THRESHOLD = 5.5
MEAN_SHARE = 0.5
CONTEXT = 2
PROPORTION = 0.12
"""Setting of the recipes: one loud frame among a frame and its two neighbours on either side."""
LOUD = 0.1
"""Share of a signal's mean power from which a frame counts as speech, without any model."""
LEVEL_DB = -26.0
"""Level of active speech in telephony (ITU-T P.56), to which recordings are brought."""


def speech_frames(
    log_energy: torch.Tensor,
    threshold: float = THRESHOLD,
    mean_share: float = MEAN_SHARE,
    context: int = CONTEXT,
    proportion: float = PROPORTION,
) -> torch.Tensor:
    """Mask of frames that hold speech.

    Args:
        log_energy: ``[..., frame]``, natural logarithm of a 25 ms frame's energy, samples being on
            the scale of 16-bit integers: the first coefficient of
            :class:`~voicenym.dsp.features.mfcc.MFCC`.
        threshold: of the log energy.
        mean_share: how much of the recording's mean log energy is added to it.
        context: frames to either side that count; fewer at the ends.
        proportion: least share of them, the frame's own included, that must be loud.

    Returns:
        ``[..., frame]`` bool.

    Example:
        >>> speech_frames(torch.tensor([2.0, 2.0, 2.0, 2.0, 20.0, 20.0, 2.0])).tolist()
        [False, False, True, True, True, True, True]
    """
    frames = log_energy.shape[-1]
    if not frames:
        return torch.zeros_like(log_energy, dtype=torch.bool)
    least = threshold + mean_share * log_energy.mean(-1, keepdim=True)
    loud = (log_energy > least).long()
    total = torch.nn.functional.pad(loud.cumsum(-1), (1, 0))
    place = torch.arange(frames, device=log_energy.device)
    start, stop = (place - context).clamp_min(0), (place + context + 1).clamp_max(frames)
    return total[..., stop] - total[..., start] >= proportion * (stop - start)


def loud_frames(samples: torch.Tensor, hop: int, share: float = LOUD) -> torch.Tensor:
    """Mask ``[..., frame]`` of the whole frames that have at least a share of the mean power.

    Args:
        samples: ``[..., time]``.
        hop: samples of a frame; a last one that is not full is left out.
        share: of the mean power of the signal.

    Example:
        >>> loud_frames(torch.tensor([0.0, 0.0, 1.0, 1.0, 0.1, 0.1, 9.0]), 2).tolist()
        [False, True, False]
    """
    whole = samples.shape[-1] // hop
    power = samples[..., : whole * hop].unflatten(-1, (whole, hop)).square().mean(-1)
    return power > share * power.mean(-1, keepdim=True)


def levelled(signal: torch.Tensor, level: float = LEVEL_DB) -> torch.Tensor:
    """Signal scaled to a mean level, so that a quiet recording is not taken for silence.

    Args:
        signal: ``[..., time]``, full scale being 1.
        level: of the mean power, in dB re full scale.
    """
    power = signal.square().mean(-1, keepdim=True) if signal.shape[-1] else signal[..., :0]
    gain = 10.0 ** (level / 20.0) / power.sqrt().clamp_min(torch.finfo(signal.dtype).tiny)
    return torch.where(power > 0.0, signal * gain, signal) if signal.shape[-1] else signal
