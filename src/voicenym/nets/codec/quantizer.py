"""Residual vector quantisation: a frame as a sum of entries of successive codebooks.

Yao et al. (2024), sections III.C and IV.B: eight codebooks of 1,024 entries, updated by exponential
moving averages of their vectors (van den Oord et al. 2017, appendix; Razavi et al. 2019),
initialised by k-means on the first batch; unused entries are reinitialised (Zeghidour et al.,
SoundStream).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import distributed

SMOOTHING = 1e-5
"""Laplace smoothing of the shares of entries."""
BEGINNING = 20
"""Iterations of k-means in the initialisation."""
MOST_CLUSTERED = 32_768
"""Largest number of vectors for k-means."""


class Quantized(NamedTuple):
    """Quantised frames, with straight-through gradients.

    Args:
        first: ``[batch, size, frame]``, entries of the first codebook.
        total: ``[batch, size, frame]``, sum over all codebooks.
        codes: ``[batch, codebook, frame]`` int64.
        commitment: equation 9, a mean over frames and elements, summed over codebooks.
        perplexity: ``[codebook]``, exponential of the entropy of the codes.
    """

    first: torch.Tensor
    total: torch.Tensor
    codes: torch.Tensor
    commitment: torch.Tensor
    perplexity: torch.Tensor


class Codebook(torch.nn.Module):
    """Codebook whose entries are moving averages of the vectors assigned to them.

    Args:
        entries: how many.
        size: elements of each.
        decay: of moving averages.
        least: average number of vectors a step below which an entry is reinitialised.
        seed: of the random draws, which depend on it and on the number of steps alone.
    """

    vectors: torch.Tensor
    sums: torch.Tensor
    counts: torch.Tensor
    steps: torch.Tensor

    def __init__(
        self, entries: int, size: int, decay: float = 0.99, least: float = 2.0, seed: int = 0
    ) -> None:
        super().__init__()
        self.decay, self.least, self.seed = decay, least, seed
        # any other start would do: the first batch in training decides
        self.register_buffer(
            "vectors", torch.randn(entries, size, generator=torch.Generator().manual_seed(seed))
        )
        self.register_buffer("sums", torch.zeros(entries, size))
        self.register_buffer("counts", torch.zeros(entries))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self._remembered: tuple[tuple[int, int, torch.device], torch.Tensor] | None = None

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Indices ``[vector]`` of the nearest entries of ``[vector, size]``, and the entries.

        In training the entries are updated afterwards.
        """
        x = x.detach().to(self.vectors)
        if self.training and not int(self.steps):
            self.begin(x)
        codes = self.nearest(x)
        found = self.vectors[codes]
        if self.training:
            self._follow(x, codes)
        return codes, found

    def nearest(self, x: torch.Tensor) -> torch.Tensor:
        """Index ``[vector]`` of the nearest entry, the first of equals."""
        return torch.addmm(self._squares(), x, self.vectors.T, alpha=-2.0).argmin(1)

    def _squares(self) -> torch.Tensor:
        """|e|^2 of the entries ``[entry]``; remembered until they change, since in a stream's
        short blocks that would be half of the work.
        """
        if self.training or self.vectors.is_inference():
            return self.vectors.square().sum(1)
        stamp = self.vectors.data_ptr(), self.vectors._version, self.vectors.device
        if self._remembered is None or self._remembered[0] != stamp:
            self._remembered = stamp, self.vectors.square().sum(1)
        return self._remembered[1]

    @torch.no_grad()
    def begin(self, x: torch.Tensor, steps: int = 1) -> None:
        """Initialises the entries by k-means of vectors ``[vector, size]``, for a given number of
        steps.
        """
        some = self._drawn(x, min(len(x), MOST_CLUSTERED), repeat=False)
        self.vectors.copy_(self._drawn(x, len(self.vectors), repeat=len(x) < len(self.vectors)))
        for _ in range(BEGINNING):
            sums, counts = self._fallen(some, self.nearest(some))
            used = counts > 0
            self.vectors[used] = sums[used] / counts[used, None]
        _equal(self.vectors)
        sums, counts = self._fallen(x, self.nearest(x))
        self.counts.copy_(_total(counts) / steps)
        self.sums.copy_(self.vectors * self.counts[:, None])

    @torch.no_grad()
    def _follow(self, x: torch.Tensor, codes: torch.Tensor) -> None:
        dead = self.counts < self.least
        # drawn whether needed or not, so that processes stay in step
        others = self._drawn(x, len(self.vectors), repeat=True)
        _equal(others)
        self.counts.copy_(torch.where(dead, self.least, self.counts))
        self.sums.copy_(torch.where(dead[:, None], others * self.least, self.sums))
        sums, counts = self._fallen(x, codes)
        # a new entry does not inherit what fell to the old one
        alive = (~dead).to(counts)
        sums, counts = _total(sums) * alive[:, None], _total(counts) * alive
        keep = torch.where(dead, 1.0, self.decay)
        self.counts.mul_(keep).add_((1.0 - keep) * counts)
        self.sums.mul_(keep[:, None]).add_((1.0 - keep)[:, None] * sums)
        whole = self.counts.sum()
        share = (self.counts + SMOOTHING) / (whole + len(self.counts) * SMOOTHING)
        self.vectors.copy_(self.sums / (share * whole)[:, None])
        self.steps.add_(1)

    def _fallen(self, x: torch.Tensor, codes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Sum and number of the vectors assigned to each entry."""
        sums = torch.zeros_like(self.vectors).index_add_(0, codes, x)
        return sums, torch.bincount(codes, minlength=len(self.vectors)).to(x)

    def _drawn(self, x: torch.Tensor, count: int, repeat: bool) -> torch.Tensor:
        """Random selection of vectors ``[vector, size]``."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + int(self.steps))
        if repeat:
            place = torch.randint(len(x), (count,), generator=generator)
        else:
            place = torch.randperm(len(x), generator=generator)[:count]
        return x[place.to(x.device)]


class ResidualQuantizer(torch.nn.Module):
    """Residual vector quantiser: each codebook quantises the residual of those before.

    Args:
        codebooks: how many.
        entries: of each.
        size: elements of a frame.
        decay, least, seed: of :class:`Codebook`.
    """

    def __init__(
        self,
        codebooks: int = 8,
        entries: int = 1024,
        size: int = 512,
        decay: float = 0.99,
        least: float = 2.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.books = torch.nn.ModuleList(
            [Codebook(entries, size, decay, least, seed + i) for i in range(codebooks)]
        )

    @property
    def vectors(self) -> tuple[torch.Tensor, ...]:
        """Vectors ``[code, size]`` of each codebook."""
        return tuple(_vectors(book) for book in self.books)

    def forward(self, frames: torch.Tensor, most: torch.Tensor | None = None) -> Quantized:
        """Quantises frames.

        Args:
            frames: ``[batch, size, frame]``.
            most: ``[batch]``, number of first codebooks in each row's total; None for all.
        """
        rows, size, steps = frames.shape
        with torch.autocast(frames.device.type, enabled=False):
            x = frames.float().transpose(1, 2).reshape(-1, size)
            rest, total = x, torch.zeros_like(x)
            first = total
            codes, losses, used = [], [], []
            for book in self.books:
                found, q = book(rest)
                losses.append((rest - q).square().mean())
                share = torch.bincount(found, minlength=len(_vectors(book))) / max(1, len(found))
                used.append(torch.special.entr(share).sum().exp())
                codes.append(found.view(rows, steps))
                if most is None:
                    total = total + q
                else:
                    counts = (most >= len(codes)).repeat_interleave(steps)
                    total = total + q * counts[:, None]
                first = total if len(codes) == 1 else first
                rest = rest - q
            through = [
                (x + (q - x).detach()).view(rows, steps, size).transpose(1, 2)
                for q in (first, total)
            ]
        return Quantized(
            through[0],
            through[1],
            torch.stack(codes, 1),
            torch.stack(losses).sum(),
            torch.stack(used),
        )

    def shortened(self, codebooks: int) -> ResidualQuantizer:
        """Quantiser of the first few codebooks, shared with this one."""
        made = ResidualQuantizer(0)
        made.books.extend(self.books[:codebooks])
        return made.train(self.training)

    @torch.no_grad()
    def begin(self, frames: Iterable[torch.Tensor]) -> None:
        """Initialises the codebooks from several training batches ``[batch, size, frame]``."""
        steps = [x.float().transpose(1, 2).flatten(0, 1) for x in frames]
        rest = torch.cat(steps)
        for book in self.books:
            assert isinstance(book, Codebook)
            book.begin(rest, len(steps))
            book.steps.fill_(1)
            rest = rest - book.vectors[book.nearest(rest)]

    def looked_up(self, codes: torch.Tensor) -> torch.Tensor:
        """Sum of entries ``[batch, size, frame]`` for codes ``[batch, codebook, frame]`` of the
        first few codebooks or all.

        Raises:
            ValueError: more codebooks than there are.
        """
        if codes.shape[1] > len(self.books):
            raise ValueError(f"codes of {codes.shape[1]} codebooks; there are {len(self.books)}")
        parts = [_vectors(b)[c] for b, c in zip(self.books, codes.unbind(1), strict=False)]
        return torch.stack(parts).sum(0).transpose(1, 2)


def _vectors(book: torch.nn.Module) -> torch.Tensor:
    return book.vectors  # type: ignore[return-value]


def _several() -> bool:
    return distributed.is_available() and distributed.is_initialized()


def _total(x: torch.Tensor) -> torch.Tensor:
    """Sum over the processes of a distributed training."""
    if _several():
        distributed.all_reduce(x)
    return x


def _equal(x: torch.Tensor) -> None:
    """Tensor of the first process, broadcast to all."""
    if _several():
        distributed.broadcast(x, 0)
