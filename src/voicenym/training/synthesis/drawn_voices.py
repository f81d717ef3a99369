"""Crops in drawn voices: content of a crop, voice and F0 as the pipeline draws them.

Interpolations between the voices of a batch (:mod:`voicenym.training.synthesis.converted_crops`)
keep the speaker's own contour of F0. A system that draws its voices from a mixture and predicts F0
from the content (``word-codes``) gives the synthesizer other inputs: these.
"""

from __future__ import annotations

from pathlib import Path

import torch

from voicenym.identity.pools.vector_mixture import Gaussians, opened
from voicenym.nets.synthesis import f0_predictor
from voicenym.resynthesis.pipeline.assembly import part
from voicenym.resynthesis.pipeline.f0_regression import Register
from voicenym.resynthesis.pipeline.synthesis_settings import Settings
from voicenym.training.synthesis.synthesis_dataset import SynthesisCrop


class DrawnVoices(torch.nn.Module):
    """Voices of a pipeline's mixture, and F0 of its predictor in their registers.

    Args:
        folder: pipeline with the parts mixture, register and f0.

    Raises:
        WeightsError, VoicenymError: a part is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._groups = list(opened(str(part(folder, "mixture"))).groups.values())
        self.register_map = Register.load(part(folder, "register"))
        self.predictor = f0_predictor.load(part(folder, "f0"))
        self.requires_grad_(False).eval()

    @torch.no_grad()
    def forward(
        self, crop: SynthesisCrop, settings: Settings, every: int, generator: torch.Generator
    ) -> SynthesisCrop:
        """A batch in drawn voices.

        Args:
            crop: a batch; its content is held for ``every`` frames of F0.
            settings: with the scale of the speaker vectors.
            every: frames of F0 that share one of content.
            generator: of all draws.

        Returns:
            The batch with F0 and vectors drawn; its ``samples`` are still those of the speakers.
        """
        rows, frames = crop.f0.shape
        device = crop.f0.device
        vectors = self._vectors(rows, generator).float()
        mean, std = (x.to(device) for x in self.register_map(vectors.to(device)))
        seeds = torch.randint(2**62, (rows,), generator=generator, device=generator.device)
        # crops begin within a frame of content: its borders are where the rows change
        content = crop.content[:, every // 2 :: every]
        f0 = self.predictor.drawn(content.float(), mean, std, seeds)
        missing = frames - f0.shape[1]
        f0 = torch.nn.functional.pad(f0, (0, max(0, missing)), mode="replicate")[:, :frames]
        return crop._replace(f0=f0, vector=settings.scaled(vectors).to(crop.vector))

    def _vectors(self, rows: int, generator: torch.Generator) -> torch.Tensor:
        """Speaker vectors ``[row, element]``, each of a mixture that is drawn first, on the
        processor: all random numbers come in two transfers, for which an accelerator waits.
        """
        size = max(group.means.shape[1] for group in self._groups)
        places = torch.rand(rows, 2, generator=generator, device=generator.device).cpu()
        white = torch.randn(rows, size, generator=generator, device=generator.device).cpu()
        return torch.stack([self._vector(*pair) for pair in zip(places, white, strict=True)])

    def _vector(self, place: torch.Tensor, white: torch.Tensor) -> torch.Tensor:
        """A speaker vector ``[element]`` of a mixture that is drawn first.

        Args:
            place: uniform numbers that choose mixture and component, ``[2]``.
            white: normal numbers, ``[kept]`` or more.
        """
        group: Gaussians = self._groups[
            min(int(place[0] * len(self._groups)), len(self._groups) - 1)
        ]
        ends = group.weights.cumsum(0)
        component = min(int((ends / ends[-1] <= place[1]).sum()), len(group.weights) - 1)
        root = group.roots[component]
        white = white[: group.means.shape[1]]
        moved = root @ white if root.ndim == 2 else root * white
        return group.back((group.means[component] + moved)[None])[0]
