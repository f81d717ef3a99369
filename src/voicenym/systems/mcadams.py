"""VoicePrivacy baseline B2: LP pole angles raised to the power of the McAdams coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import Anonymizer, Card, Core
from voicenym.dsp.analysis_memory import analysed
from voicenym.dsp.envelopes import lpc
from voicenym.dsp.envelopes.envelope import keep_energy
from voicenym.dsp.overlap_add import OverlapAdd, root_hann
from voicenym.dsp.polynomials import quadratic_factors
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Pseudonym

REFERENCE_RATE = 16_000
"""Rate of the published angles; at other rates the poles at the same frequencies in Hz move."""

BLOCK_FRAMES = 1024
"""Frames of 20 ms whose samples fit the second-level cache."""


@dataclass(frozen=True)
class McAdams(Anonymizer):
    """Moves formants: the angle of every complex LP pole is raised to the power alpha.

    Per 20 ms frame: A(z) of order 20; each complex pole r e^(j phi) becomes r e^(j phi^alpha); the
    residual of A is filtered by the new 1/A'. alpha is drawn once per pseudonym. Poles below 1 rad
    (2546 Hz) rise for alpha < 1, poles above it fall. The baseline normalises the peak of the file;
    here every frame keeps its energy, so that the level is kept and the system streams.

    Args:
        low, high: alpha ~ U(low, high), 0.5 to 0.9 as published; equal for a fixed coefficient.
        order: of the linear prediction, even.
        radius: factor on the radii of the moved poles (1 in B2).

    Source: Patino et al., Interspeech 2021, arXiv 2011.01130 (VoicePrivacy baseline B2).
    """

    low: float = 0.5
    high: float = 0.9
    order: int = 20
    radius: float = 1.0

    revisions: ClassVar[tuple[int, ...]] = (1, 2)
    card: ClassVar[Card] = Card(
        name="mcadams",
        title="McAdams coefficient: formants moved by bending LP pole angles (VoicePrivacy B2)",
        paper="Patino, Tomashenko, Todisco, Nautsch, Evans, 'Speaker anonymisation using the "
        "McAdams coefficient', Interspeech 2021, arXiv 2011.01130; B2 of Tomashenko et al., "
        "'The VoicePrivacy 2020 Challenge: Results and findings', CSL 2022",
        year=2021,
        equations=(
            "LP analysis of order 20, 20 ms windows, 10 ms hop, sqrt-Hann analysis and synthesis",
            "phi' = phi^alpha for complex poles, clipped to [0, pi]; radii and real poles kept",
            "alpha ~ U(0.5, 0.9) per speaker (2022 rules)",
        ),
        needs="no weights; 8 kHz or more; CPU or GPU",
        protects="casual listeners and ignorant verifiers, in part",
        promises=(
            "length, channels and level are kept; live latency is 20 ms at 16 kHz, 27 ms at 48 kHz",
            "the pitch, rhythm and words are those of the speaker",
        ),
        fails=(
            "does not stop an attacker who knows the system: trained on its output, a verifier "
            "reaches an EER of 1.6 to 7.8 % (VoicePrivacy 2022 and 2024)",
            "alpha is one number in [0.5, 0.9]: it can be searched and undone",
            "pitch and intonation still identify speakers",
        ),
        approximations=(
            "autocorrelation method instead of Burg's; frame energy kept instead of peak "
            "normalisation; the tail of the file is kept, where the published loop drops it",
            "revision 2 filters by 1/A' in double precision; revision 1, in single precision, "
            "deviates from it by 5 % (median of recordings) at alpha = 0.5 and 0.6 % at 0.6",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.low <= self.high <= 2.0:
            raise UnknownSystemError(
                f"{self.card.name}: alpha needs 0 < low <= high <= 2, not {self.low}, {self.high}"
            )
        if self.order < 2 or self.order % 2 or self.order > 64:
            raise UnknownSystemError(
                f"{self.card.name}: order must be even, from 2 to 64, not {self.order}"
            )
        if not 0.0 < self.radius <= 1.0:
            raise UnknownSystemError(
                f"{self.card.name}: radius must be above 0 and at most 1, not {self.radius}"
            )

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        alpha = torch.tensor(
            [p.uniform("mcadams.alpha", self.low, self.high) for p in pseudonyms],
            dtype=torch.float64,
            device=self.device,
        )
        # An alpha of 0.5 moves all poles within 1.8 rad, where coefficients of 1/A' in single
        # precision, as in revision 1, miss the filter by up to -5 dB of a frame's energy.
        exact = [self.revision_for(p) > 1 for p in pseudonyms]

        def filtered(
            residual: torch.Tensor, new: torch.Tensor, former: torch.Tensor
        ) -> torch.Tensor:
            """``[time, frame]`` filtered by 1/A', the frames of revision 1 in single precision."""
            if not any(exact):
                return lpc.synthesize_(residual, new.float())
            made = lpc.synthesize_(residual.double(), new)
            if not all(exact):
                single = lpc.synthesize_(residual[:, former], new[:, former].float())
                made[:, former] = single.double()
            return made

        hop = round(0.010 * rate)
        window = root_hann(2 * hop).to(self.device)
        to_reference = rate / REFERENCE_RATE

        @torch.inference_mode()  # the calls of operations cost a third less
        def process(frames: torch.Tensor) -> torch.Tensor:
            rows, count, length = frames.shape
            windowed = (frames * window).reshape(rows * count, length)
            kind = ("poles", self.order, rate, self.device)
            old, b, c = analysed(frames, kind, partial(_poles, windowed, self.order))
            b, c = self._moved(b, c, alpha.repeat_interleave(count), to_reference)
            new = quadratic_factors.multiply_out(b, c)
            # [time, frame]: every step of a recursion is one operation over many frames, block by
            # block, to stay in the cache.
            former = torch.tensor(exact, device=self.device).repeat_interleave(count).logical_not()
            blocks = range(0, rows * count, BLOCK_FRAMES)
            for part in (slice(first, first + BLOCK_FRAMES) for first in blocks):
                residual = lpc.whiten(windowed[part].T.contiguous(), old[:, part])
                changed = filtered(residual, new[:, part], former[part]).T.float()
                windowed[part] = keep_energy(changed * window, windowed[part] * window)
            return windowed.reshape(rows, count, length)

        return OverlapAdd(len(pseudonyms), 2 * hop, hop, process, self.device)

    def _moved(
        self, b: torch.Tensor, c: torch.Tensor, alpha: torch.Tensor, to_reference: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Factors z^2 + b z + c with the angles of their conjugate pole pairs moved."""
        pair = b * b < 4.0 * c
        r = c.clamp_min(1e-12).sqrt()
        phi = torch.acos((-b / (2.0 * r)).clamp(-1.0, 1.0))
        phi = ((phi * to_reference) ** alpha / to_reference).clamp(0.0, torch.pi)
        moved = self.radius * r
        return (
            torch.where(pair, -2.0 * moved * torch.cos(phi), b),
            torch.where(pair, moved * moved, c),
        )


def _poles(windowed: torch.Tensor, order: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Linear prediction of frames ``[frame, time]``: coefficients ``[order + 1, frame]`` in single
    precision, and the factors z^2 + b z + c of their polynomials, b and c ``[order / 2, frame]``.
    """
    r = lpc.autocorrelation(windowed.T, order)
    a, _ = lpc.levinson(r)
    # Silent frames have no poles; evenly spread ones are found at once.
    a[-1] = torch.where(r[0] > 0, a[-1], 0.1)
    return a.float(), *quadratic_factors.factor(a)
