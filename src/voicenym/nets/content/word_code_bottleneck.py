"""Word codes: a vector-quantised bottleneck between Whisper's encoder and its decoder.

Encoder states are quantised to codes of one or a few codebooks, 25 times a second, and
reconstructed from them as input of the frozen decoder. K-means clusters of states or their
principal components lose the words; a bottleneck trained through the decoder keeps them. Codes
carry no positions: the encoder's positional embedding is added after them. After the speech, a
learned blank vector replaces codes, so that the states of the rest of a window are constant.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from pathlib import Path
from typing import Any, NamedTuple

import torch

from voicenym.nets.architectures import Kinds
from voicenym.nets.checkpoint import configuration, fill, read, rebuilding
from voicenym.nets.codec.quantizer import ResidualQuantizer
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.masked_batch import valid

BUNDLED = Path(__file__).parent / "bundled" / "word-codes-tiny.en"
"""Folder of the bundled content encoder: that of Whisper tiny.en and the codes of its states."""
WITHIN = "codes."
"""Names of the bottleneck's tensors in a content encoder begin so."""
SLOWEST = 10_000.0
"""Longest wavelength of the positional embedding, in states over 2 pi."""


class Coded(NamedTuple):
    """Quantised and reconstructed states.

    Args:
        states: ``[batch, state, size]``, up to the receptive field after the longest row; blank
            ones follow (:meth:`WordCodes.blank`).
        codes: ``[batch, code, book]``, zeros after the end of a row; None without quantisation.
        commitment: commitment loss, mean squared distance of the vectors to their entries.
        perplexity: of the first codebook, exponential of the entropy of the codes.
        vectors: ``[vector, element]``, input of the quantiser, without gradient.
        entries: ``[batch, code, element]``, the codebook vectors, with the gradient of the input of
            the quantiser; without quantisation that input.
    """

    states: torch.Tensor
    codes: torch.Tensor | None
    commitment: torch.Tensor
    perplexity: torch.Tensor
    vectors: torch.Tensor
    entries: torch.Tensor


class WordCodes(WordCodeEncoder):
    """Vector-quantised bottleneck of Whisper's encoder states.

    Args:
        least: average number of vectors a step below which an entry is reinitialised.
        seed: of the random draws in training.
        options: of :class:`~voicenym.nets.content.word_code_encoder.WordCodesSizes`.

    Raises:
        ValueError: invalid sizes.
    """

    kind = "word-codes"
    positions: torch.Tensor

    def __init__(self, least: float = 0.1, seed: int = 0, **options: Any) -> None:
        super().__init__(**options)
        size = self.sizes
        self._least, self._seed = least, seed
        self.quantizer = ResidualQuantizer(
            size.books, size.entries, size.code, least=least, seed=seed
        )
        self.widen = torch.nn.Linear(size.code, size.width)
        self.nothing = torch.nn.Parameter(torch.zeros(size.width))
        self.place = torch.nn.Linear(size.states, size.width)
        self.after = self.blocks(size.after)
        self.leave = torch.nn.Linear(size.width, size.states)
        self.register_buffer("positions", sinusoids(size.window, size.states), persistent=False)

    def config(self) -> dict[str, Any]:
        return {"least": self._least, "seed": self._seed, **dataclasses.asdict(self.sizes)}

    @property
    def reach(self) -> int:
        """Receptive field of the decoder on either side, in states."""
        return self.sizes.after * (self.sizes.kernel // 2)

    @property
    def initialised(self) -> bool:
        """Whether the codebooks are initialised."""
        return bool(self.quantizer.books[0].steps)

    def codebook_digest(self) -> str:
        """SHA-256 of the codebooks in half precision, as they are stored: its first 16 digits."""
        found = hashlib.sha256()
        for book in self.quantizer.books:
            found.update(book.vectors.detach().cpu().half().numpy().tobytes())  # type: ignore[operator,union-attr]
        return found.hexdigest()[:16]

    def forward(self, states: torch.Tensor, lengths: torch.Tensor, quantised: bool = True) -> Coded:
        """Quantises and reconstructs states of speech.

        Args:
            states: ``[batch, state, size]``, encoder states, at least those of the speech.
            lengths: ``[batch]``, states of the speech.
            quantised: False bypasses the quantiser, at the beginning of a training.
        """
        x = self.encoded(states, lengths)
        inside = valid(self.counts(lengths), x.shape[1])
        if not quantised:
            one = x.new_zeros(())
            return Coded(self.expanded(x, lengths), None, one, one, x[inside].detach(), x)
        found = self.quantizer(x[inside].T[None])
        through = torch.zeros(x.shape, dtype=found.total.dtype, device=x.device)
        through[inside] = found.total[0].T
        codes = torch.zeros(*x.shape[:2], self.sizes.books, dtype=torch.int64, device=x.device)
        codes[inside] = found.codes[0].T
        return Coded(
            self.expanded(through, lengths),
            codes,
            found.commitment,
            found.perplexity[0],
            x[inside].detach(),
            through,
        )

    @torch.inference_mode()
    def codes(self, states: torch.Tensor) -> torch.Tensor:
        """Codes ``[code, book]`` of the states ``[state, size]`` of one recording's speech."""
        if not len(states):
            return torch.zeros(0, self.sizes.books, dtype=torch.int64, device=states.device)
        lengths = torch.tensor([len(states)], device=states.device)
        x = self.encoded(states[None], lengths)
        return self.quantizer(x.transpose(1, 2)).codes[0].T

    @torch.inference_mode()
    def decoded(self, codes: torch.Tensor) -> torch.Tensor:
        """States of a window ``[state, size]`` from codes ``[code, book]`` of one recording.

        Raises:
            ValueError: more codes than a window has.
        """
        if len(codes) > self.sizes.window // self.sizes.every:
            raise ValueError(f"{len(codes)} codes are longer than a window; part them")
        x = self.quantizer.looked_up(codes.T[None]).transpose(1, 2)
        lengths = torch.tensor([len(codes) * self.sizes.every], device=codes.device)
        known = self.expanded(x, lengths)
        return torch.cat([known, self.blank(known.shape[1])], 1)[0]

    def expanded(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """States from entries ``[batch, code, element]``, up to where only blank ones follow."""
        size, reach = self.sizes, self.reach
        stop = min(size.window, x.shape[1] * size.every + reach)
        # so far that the zeros behind the signal change nothing before
        far = min(size.window, stop + reach)
        y = self.widen(x).repeat_interleave(size.every, 1)[:, :far]
        y = torch.nn.functional.pad(y, (0, 0, 0, far - y.shape[1]))
        inside = valid(self.counts(lengths) * size.every, far)[:, :, None]
        return self._rebuilt(torch.where(inside, y, self.nothing.to(y)))[:, :stop]

    def blank(self, first: int = 0) -> torch.Tensor:
        """States ``[1, state, size]`` of a window without speech, from index ``first`` on."""
        start = max(0, first - self.reach)
        x = self.nothing.expand(1, self.sizes.window - start, -1)
        return self._rebuilt(x, start)[:, first - start :]

    def _rebuilt(self, x: torch.Tensor, start: int = 0) -> torch.Tensor:
        x = x + self.place(self.positions[start : start + x.shape[1]])
        for block in self.after:
            x = block(x, x.new_zeros(len(x), 1, 0))
        return self.leave(x)


def sinusoids(length: int, size: int) -> torch.Tensor:
    """Sinusoidal positional embedding of Whisper, ``[length, size]``: sines, then cosines, of
    geometric wavelengths (Vaswani et al. 2017, section 3.5).
    """
    rates = torch.exp(-math.log(SLOWEST) / (size // 2 - 1) * torch.arange(size // 2))
    angles = torch.arange(length)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


KINDS: Kinds[WordCodes] = Kinds(
    "codes of words", {WordCodes.kind: "voicenym.nets.content.word_code_bottleneck:WordCodes"}
)
make, save = KINDS.make, KINDS.save


def load(folder: Path | str) -> WordCodes:
    """The bottleneck in a folder, in evaluation mode.

    Args:
        folder: of :data:`save`, or of a content encoder (``voicenym models word-codes``), of which
            the bottleneck is a part.

    Raises:
        DependencyError, VoicenymError: as :meth:`voicenym.nets.architectures.Kinds.load`.
    """
    options = configuration(folder).get("options", {})
    if not isinstance(options, dict) or not isinstance(options.get("codes"), dict):
        return KINDS.load(folder)
    state = read(folder)[1]
    with rebuilding(folder):
        made = make(WordCodes.kind, options["codes"])
    own = {n.removeprefix(WITHIN): v for n, v in state.items() if n.startswith(WITHIN)}
    fill(made, own, folder)
    return made.eval()
