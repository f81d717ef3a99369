"""Orthogonal Householder network: a learned or vector-dependent rotation of speaker vectors.

Miao et al., "Speaker anonymization using orthogonal Householder neural network" (2023), equations 7
to 11. A vector x becomes ``L^-1 W L (x - mean) + mean`` with an orthogonal W of ``layers`` times
``reflections`` Householder reflections; no non-linearity stands between the layers, or W would not
be orthogonal. In ``roh`` the reflections' vectors are parameters, one W for all speakers; in
``loh`` a convolution computes them from the vector itself, so that each vector has its own W.

The paper describes the networks of LOH in three sentences (section III-C: each v "is transformed
from a small NN given the input" x, in "a set of small NNs", of which "each DNN has a single 1D
convolution layer with 192 output channels and a kernel size of 3"), and their sizes in one (section
IV-A: d = 192, L = 12, q = 192 in ROH and 50 in LOH). It prints no number of parameters. Decisions:

- The vectors come from networks for every speaker vector: W "varies according to the input". The
  input of all layers is x itself, not the output of other layers: ``sees="input"``.
- In equation 11, v has d elements, and 192 output channels are d: a vector is the output of all
  channels at one place. The other assignment, ``filters``, has q = 50 channels, against the text.
- One network makes the vectors of one W_l: x is a sequence of 192 elements with one channel, and
  vector j is the output at element j, up to the 50th (``positions``). ROH has d L q = 442,368
  parameters; these networks have 9,216, ``filters`` 2,400. A network for each of the 600 vectors,
  for which x is one step of 192 channels (``dense``), has 66,470,400: it is the other reading that
  fits the words, and not small; two of the three taps of its kernels see padding alone.
- Equations 8 to 11 rotate all of ``x - mean``, but q reflections turn no more than the span of
  their vectors. In ``positions`` vector j of layer l is ``K_l [z_(j-1), z_j, z_(j+1), 1]``, in the
  span of the four columns of K_l, which do not depend on x. Twelve layers turn 48 of the 192
  dimensions, the same for all speakers, and keep 144. In ``filters`` all layers turn four, the span
  of the shifted x and ones; in ``dense`` a layer turns 50, and all layers the whole.

The other readings remain as options: :data:`READINGS`, and :data:`INPUTS`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch

from voicenym.errors import VoicenymError
from voicenym.nets.identity.reflections import product, reflect, reflect_all
from voicenym.nets.identity.small_reflections import products, turned

FORMS = ("roh", "loh")
READINGS = ("positions", "filters", "dense")
"""Readings of the paper: the vectors of a layer from a convolution (d: size, q: reflections).

``positions``: one channel in, d out, along the elements of the speaker vector; vector j is the
output of all channels at position j. ``filters``: one channel in, q out, vector j is the output of
channel j at all positions. In both, a layer's vectors span four dimensions (three taps and the
bias). ``dense``: for each reflection a convolution of d channels in and d out over a sequence of
one vector, where only the middle tap has input other than padding, and is stored. The description
of the module says why ``positions`` is the default.
"""
INPUTS = ("input", "layer")
"""Input of the convolutions of all layers: the speaker vector, or the output of earlier layers."""
KERNEL = 3


class Householder(torch.nn.Module):
    """Rotation with the statistics for whitening.

    Args:
        form: one of :data:`FORMS`.
        size: d, elements of a speaker vector.
        layers: L; 0 is the identity.
        reflections: q of each layer; None for the paper's, d in ``roh`` and 50 in ``loh``.
        reading: one of :data:`READINGS`.
        sees: one of :data:`INPUTS`.
        whitened: whether equation 7 is used; equation 8 otherwise, where L is the identity. The
            covariance is estimated in both, for further rotations.

    Raises:
        ValueError: an unknown option.
    """

    mean: torch.Tensor
    whitening: torch.Tensor
    colouring: torch.Tensor
    spread: torch.Tensor

    def __init__(
        self,
        form: str = "roh",
        size: int = 192,
        layers: int = 12,
        reflections: int | None = None,
        reading: str = "positions",
        sees: str = "input",
        whitened: bool = False,
    ) -> None:
        super().__init__()
        for value, known in ((form, FORMS), (reading, READINGS), (sees, INPUTS)):
            if value not in known:
                raise ValueError(f"{value!r} is none of {', '.join(known)}")
        count = (size if form == "roh" else min(50, size)) if reflections is None else reflections
        if size < 1 or layers < 0 or count < 1:
            raise ValueError("size and reflections are 1 at least, layers 0")
        if form == "loh" and reading == "positions" and count > size:
            raise ValueError(f"{size} positions give no {count} reflections")
        self.form, self.size, self.layers, self.reflections = form, size, layers, count
        self.reading, self.sees, self.whitened = reading, sees, whitened
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("spread", torch.ones(()))
        self.register_buffer("whitening", torch.eye(size))
        self.register_buffer("colouring", torch.eye(size))
        if form == "roh":
            self.vectors = torch.nn.Parameter(torch.randn(layers, count, size))
            return
        shape = {"positions": (size, KERNEL), "filters": (count, KERNEL)}.get(
            reading, (count, size, size)
        )
        # torch's initialisation of a convolution: both within 1 / sqrt(inputs of a channel)
        bound = 1.0 / math.sqrt(KERNEL * (size if reading == "dense" else 1))
        self.weight = torch.nn.Parameter(torch.empty(layers, *shape).uniform_(-bound, bound))
        self.bias = torch.nn.Parameter(torch.empty(layers, *shape[:-1]).uniform_(-bound, bound))

    def config(self) -> dict[str, Any]:
        """Arguments that rebuild the network, fit for JSON."""
        names = ("form", "size", "layers", "reflections", "reading", "sees", "whitened")
        return {name: getattr(self, name) for name in names}

    @torch.no_grad()
    def learn_statistics(self, vectors: torch.Tensor, floor: float = 1e-3) -> None:
        """Estimates mean, covariance and spread of speaker vectors ``[vector, size]``.

        Args:
            vectors: two at least; of few, many directions have the floor's variance.
            floor: least variance in a direction, as a share of the mean variance.

        Raises:
            VoicenymError: vectors that are not finite, or do not differ.
        """
        x = vectors.double()
        if not x.isfinite().all() or not (x != x[:1]).any():
            raise VoicenymError(
                "vectors to learn a rotation from are not finite, or all the same: give those of "
                "several speakers"
            )
        self.mean.copy_(x.mean(0))
        x = x - x.mean(0)
        values, basis = torch.linalg.eigh(x.mT @ x / max(1, len(x) - 1))
        deviation = values.clamp_min(floor * float(values.mean())).sqrt()
        # The symmetric root (ZCA): of all L with L^-1 L^-T = Sigma the one nearest to I.
        self.whitening.copy_(basis / deviation @ basis.mT)
        self.colouring.copy_(basis * deviation @ basis.mT)
        seen = x @ self.whitening.double() if self.whitened else x
        self.spread.copy_(seen.square().mean().sqrt())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Pseudo-speakers' vectors of speaker vectors ``[row, size]`` (equation 7, or 8)."""
        return self.uncentred(self.rotated(self.centred(x)))

    def centred(self, x: torch.Tensor) -> torch.Tensor:
        """Whitened vectors ``L (x - mean)``."""
        z = x - self.mean
        return z @ self.whitening if self.whitened else z

    def uncentred(self, z: torch.Tensor) -> torch.Tensor:
        """Inverse of whitening, ``L^-1 z + mean``."""
        return (z @ self.colouring if self.whitened else z) + self.mean

    def rotated(self, z: torch.Tensor) -> torch.Tensor:
        """Rotated vectors ``W z`` of centred ``[row, size]``; layers are numbered in order of
        application.
        """
        # In half precision it would not be orthogonal.
        with torch.autocast(z.device.type, enabled=False):
            return self._rotated(z)

    def _rotated(self, z: torch.Tensor) -> torch.Tensor:
        if not self.layers:
            return z
        if self.form == "roh":
            return reflect_all(z, self.vectors)
        if self.reading == "dense":
            seen = z
            for layer in range(self.layers):
                z = reflect(z, self._dense(layer, seen))
                seen = z if self.sees == "layer" else seen
            return z
        whole = slice(None)
        if self.reading == "filters":
            if self.sees == "input":
                return self._filtered(whole, z)
            for layer in range(self.layers):
                z = self._filtered(slice(layer, layer + 1), z)
            return z
        basis, lengths = torch.linalg.qr(self._taps())
        columns = z.mT
        if self.sees == "input":
            return self._placed(whole, columns, basis, lengths).mT
        for layer in range(self.layers):
            columns = self._placed(slice(layer, layer + 1), columns, basis, lengths)
        return columns.mT

    def _placed(
        self, layers: slice, z: torch.Tensor, basis: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        """Layers of ``positions`` on columns ``[size, row]``; their taps are basis times lengths.

        The vectors of a layer lie in a basis of its own that all rows share.
        """
        windows = self._windows(z)[: self.reflections]
        basis, lengths = basis[layers], lengths[layers]
        # [reflection, element, layer and row]: the layers are multiplied side by side.
        vectors = lengths.transpose(0, 1).flatten(0, 1) @ windows
        turns = products(vectors.view(len(windows), -1, len(basis) * z.shape[1]))
        return turned(z, basis, turns.unflatten(2, (len(basis), -1)))

    def _filtered(self, layers: slice, z: torch.Tensor) -> torch.Tensor:
        """Layers of ``filters`` on rows ``[row, size]`` that all see these.

        All vectors lie in a basis of the row's own, so that the layers are as one.
        """
        basis, lengths = torch.linalg.qr(self._windows(z.mT).permute(2, 0, 1))
        vectors = self._taps()[layers].flatten(0, 1) @ lengths.permute(2, 1, 0).flatten(1)
        turns = products(vectors.unflatten(1, (-1, len(z)))).permute(2, 0, 1)
        within = basis.mT @ z[..., None]
        return z + (basis @ (turns @ within - within))[..., 0]

    def rotation(self, z: torch.Tensor) -> torch.Tensor:
        """W of each centred vector ``[row, size]``, as matrices ``[row, size, size]``."""
        whole = torch.eye(self.size, dtype=z.dtype, device=z.device).expand(len(z), -1, -1)
        for vectors in self._layers(z):
            whole = product(vectors) @ whole
        return whole

    def _layers(self, z: torch.Tensor) -> Iterator[torch.Tensor]:
        """Vectors ``[row, reflection, element]`` of each layer."""
        seen = z
        for layer in range(self.layers):
            if self.form == "roh":
                vectors = self.vectors[layer].expand(len(z), -1, -1)
            elif self.reading == "dense":
                vectors = self._dense(layer, seen)
            else:
                # [row, channel, position]
                vectors = self._taps()[layer] @ self._windows(seen.mT).permute(2, 1, 0)
                if self.reading == "positions":
                    vectors = vectors.mT[:, : self.reflections]
            yield vectors
            if self.sees == "layer":
                seen = reflect(seen, vectors)

    def _dense(self, layer: int, z: torch.Tensor) -> torch.Tensor:
        weight, bias = self.weight[layer], self.bias[layer]
        made = torch.nn.functional.linear(z / self.spread, weight.flatten(0, 1), bias.flatten())
        return made.unflatten(1, (self.reflections, self.size))

    def _taps(self) -> torch.Tensor:
        """Weights of three elements and the bias of all convolutions, ``[layer, channel, 4]``."""
        return torch.cat((self.weight, self.bias[..., None]), dim=2)

    def _windows(self, z: torch.Tensor) -> torch.Tensor:
        """Inputs of the convolution for columns ``[size, row]``: ``[size, 4, row]``."""
        ends = torch.nn.functional.pad(z / self.spread, (0, 0, 1, 1))
        shifted = [ends[tap : tap + self.size] for tap in range(KERNEL)]
        return torch.stack((*shifted, torch.ones_like(z)), dim=1)
