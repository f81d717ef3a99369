"""Log posteriors of a network for one recording."""

from __future__ import annotations

import numpy as np
import torch


@torch.inference_mode()
def log_posteriors(net: torch.nn.Module, samples: torch.Tensor) -> np.ndarray:
    """Log posteriors ``[frame, class]`` of a recording.

    Args:
        net: ``(samples [batch, time], lengths [batch])`` to scores ``[batch, frame, class]`` and
            frames ``[batch]``; it is put into evaluation mode.
        samples: ``[time]`` at 16 kHz.
    """
    net.eval()
    device = next(net.parameters()).device
    lengths = torch.tensor([len(samples)], device=device)
    logits, _ = net(samples[None].to(device), lengths)
    found: np.ndarray = logits[0].float().log_softmax(-1).cpu().numpy()
    return found
