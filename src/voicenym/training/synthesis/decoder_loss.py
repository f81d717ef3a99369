"""Cross-entropy of texts by a recogniser's decoder, which reads synthesized recordings.

The distance of states (:mod:`voicenym.training.synthesis.recogniser_loss`) weighs all directions of
the states alike; which of them decide the words, the decoder knows. The recogniser is Whisper
(Radford et al., ICML 2023), frozen; its window of 30 s is filled with silence in groups
(:mod:`voicenym.nets.words.whisper.silent_groups`), at a fifth of the cost for some seconds of
speech.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import cross_entropy

from voicenym.nets.words.whisper.silent_groups import spectral_states, states_with_silence
from voicenym.nets.words.whisper.whisper import STATE, Whisper
from voicenym.nets.words.whisper.whisper_decoding import Writing

UNWANTED = -100
"""Target where no token is wanted."""


class DecoderLoss(torch.nn.Module):
    """Mean cross-entropy of the tokens of texts, among the tokens of all texts of a training.

    Args:
        whisper: trained; it is frozen.
        writing: its special tokens.
        texts: as tokens, without prefix and end, of the whole training.
    """

    pieces: torch.Tensor
    places: torch.Tensor

    def __init__(self, whisper: Whisper, writing: Writing, texts: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.whisper, self._writing = whisper.requires_grad_(False).eval(), writing
        known = sorted({writing.end, *(token for text in texts for token in text)})
        places = torch.full((whisper.sizes.tokens,), UNWANTED)
        places[known] = torch.arange(len(known))
        self.register_buffer("pieces", torch.tensor(known), persistent=False)
        self.register_buffer("places", places, persistent=False)

    def train(self, mode: bool = True) -> DecoderLoss:
        """Keeps the recogniser in evaluation mode."""
        return super().train(False)

    def forward(self, waveforms: torch.Tensor, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        """The loss; differentiable with respect to the waveforms.

        Args:
            waveforms: ``[row, time]`` at 16 kHz, silent behind the end of each, within a window.
            texts: of the rows, as tokens.
        """
        encoder, decoder = self.whisper.encoder, self.whisper.decoder
        count = min(encoder.states, -(-waveforms.shape[1] // STATE))
        spectra = encoder.spectra(waveforms.float(), spectral_states(encoder, count))
        states, weights = states_with_silence(encoder, spectra, count)
        tokens, wanted = self._rows(texts)
        hidden = decoder(tokens, decoder.cross_keys_values(states), weights=weights)
        scores = decoder.scores(hidden, self.pieces).float()
        return cross_entropy(scores.transpose(1, 2), wanted, ignore_index=UNWANTED)

    def _rows(self, texts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens before each, and places of those that are wanted, ``[row, token]``."""
        begin, end = list(self._writing.begin), self._writing.end
        length = len(begin) + max(map(len, texts))
        tokens = torch.full((len(texts), length), end, device=self.pieces.device)
        wanted = torch.full_like(tokens, UNWANTED)
        for row, text in enumerate(texts):
            whole = torch.tensor([*begin, *text, end], device=tokens.device)
            tokens[row, : len(whole) - 1] = whole[:-1]
            wanted[row, len(begin) - 1 : len(whole) - 1] = self.places[whole[len(begin) :]]
        return tokens, wanted
