"""Word codes of a recording and states of all layers, for attackers and trainings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from voicenym.nets.words.whisper.whisper import STATE

if TYPE_CHECKING:
    from voicenym.nets.words.word_codes.word_code_content import WordCodeContent

SILENCE = 50
"""States of silence behind the speech of a short window: 1 s."""


class CodesAndStates(NamedTuple):
    """Word codes and states of a recording.

    Args:
        codes: ``[code, book]``.
        states: ``[layer, state, element]``, 50 a second.
    """

    codes: torch.Tensor
    states: torch.Tensor


@torch.inference_mode()
def codes_and_states(content: WordCodeContent, waveform: torch.Tensor) -> CodesAndStates:
    """Codes and states of a recording of any length.

    Windows are as long as the recording and :data:`SILENCE`, up to a whole window, and do not
    overlap: a recording of 5 s costs a fifth of what a whole window does, and its codes are near
    those of the encoder's :meth:`~voicenym.nets.content.content_encoder.Content.encode`, but not
    the same.

    Args:
        content: the encoder.
        waveform: ``[time]``, at 16 kHz.
    """
    sizes, encoder, bottleneck = content.whisper_sizes, content.encoder, content.codes
    codes = [torch.zeros(0, bottleneck.sizes.books, dtype=torch.int64)]
    states = [torch.zeros(sizes.layers, 0, sizes.width)]
    for part in waveform.split(content.most_samples) if len(waveform) else ():
        padded = torch.nn.functional.pad(part, (0, -len(part) % content.hop))[None]
        count = padded.shape[1] // STATE
        length = min(sizes.states, count + SILENCE)
        layers = encoder.layer_states(encoder.spectra(padded, length))
        last, counts = layers[-1][:, :count], torch.tensor([count], device=padded.device)
        found = bottleneck.quantizer(bottleneck.encoded(last, counts).transpose(1, 2))
        codes.append(found.codes[0].T.cpu())
        states.append(torch.cat([one[:, :count] for one in layers]).cpu())
    return CodesAndStates(torch.cat(codes), torch.cat(states, 1))
