"""Target voices of pipeline systems: vectors, F0 and accents that pseudonyms stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from voicenym.identity import Identity
from voicenym.identity.copy import Half, for_parts
from voicenym.nets.content.drawn_accent import DrawnAccent
from voicenym.pseudonym import Pseudonym
from voicenym.resynthesis.pipeline.f0_regression import Register
from voicenym.resynthesis.pipeline.pipeline_core import Voice
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.profile_reader import Profile
from voicenym.resynthesis.pipeline.prosody_settings import Prosody


@dataclass(frozen=True)
class TargetVoices:
    """Maps pseudonyms, and the profiles of their speakers, to the voices that are to be heard.

    Args:
        parts: the networks.
        prosody: treatment of F0.
        accents: of the content, as of
            :attr:`~voicenym.resynthesis.pipeline.pipeline_system.Pipeline.accents`.
        method_of: the identity method of a revision.
        revision_of: the revision of a pseudonym.
        register: the regression of pitch on speaker vectors, read where it is needed.
        device: of the voices.
    """

    parts: Assembly
    prosody: Prosody
    accents: Sequence[str]
    method_of: Callable[[int], Identity]
    revision_of: Callable[[Pseudonym], int]
    register: Callable[[], Register]
    device: str

    def __call__(
        self, method: Identity, pseudonyms: Sequence[Pseudonym], profile: Profile
    ) -> Voice:
        """Target voices of pseudonyms, one a row, for the profile of the rows' speakers.

        Args:
            method: of the last revision, which has the same parts as those of former ones.
            pseudonyms: one a row.
            profile: of the rows' speakers.
        """
        parts = self.parts
        vectors = torch.zeros(2, len(pseudonyms), parts.speaker.size)
        to_mean, to_std = profile.log_f0.clone(), profile.log_f0_std
        audible = profile.sounding.nonzero()[:, 0].tolist()  # the others are silent
        hertz, moves = parts.speaker.hertz, self.prosody.targeted
        # of halves, pitch, which is one for both parts, goes with the voice that is put in
        put_in = parts.synthesizer.parts.index(method.part) if isinstance(method, Half) else 0
        if audible:
            own = profile.vectors[audible].cpu()
            if not (method.source_dependent or hertz):
                own = torch.ones_like(own)
            pseudo = self._chosen(own, [pseudonyms[row] for row in audible])
            if hertz and moves:
                to_mean[audible] += (pseudo[put_in][:, 0] / own[:, 0]).log().to(to_mean)
            vectors[:, audible] = torch.stack(pseudo)
            if hertz and not moves:
                vectors[:, audible, 0] = own[:, 0]  # the same F0 as the contour
        if moves and not hertz:
            each = [self.register()(row[None]) for row in vectors[put_in]]  # as in _chosen
            to_mean, to_std = map(torch.cat, zip(*each, strict=True))
        synthesis_stream = vectors[0] if method.whole else vectors.transpose(0, 1)
        seeds = [pseudonym.index("pipeline.noise", 2**62) for pseudonym in pseudonyms]
        return Voice(
            parts.scaled(synthesis_stream).to(self.device),
            to_mean.to(self.device),
            to_std.to(self.device),
            torch.tensor(seeds, dtype=torch.int64, device=self.device),
            self._accents(pseudonyms),
        )

    def _chosen(
        self, vectors: torch.Tensor, pseudonyms: Sequence[Pseudonym]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Pseudo-speakers' vectors for both parts of the synthesis, by the methods of the
        pseudonyms' revisions.

        Args:
            vectors: of the speakers, ``[row, element]``.
            pseudonyms: one a row.
        """
        found = torch.empty_like(vectors), torch.empty_like(vectors)
        methods: dict[int, Identity] = {}
        # row by row, since some processors add up the products of several rows in another order
        for row, pseudonym in enumerate(pseudonyms):
            revision = self.revision_of(pseudonym)
            if revision not in methods:
                methods[revision] = self.method_of(revision)
            made = for_parts(methods[revision], vectors[row : row + 1], [pseudonym])
            for whole, part in zip(found, made, strict=True):
                whole[row] = part[0].to(whole)
        return found

    def _accents(self, pseudonyms: Sequence[Pseudonym]) -> DrawnAccent | None:
        """Accents of pseudonyms, where the setting draws them."""
        encoder = self.parts.natives.get("drawn")
        if encoder is None or "drawn" not in self.accents:
            return None
        count = encoder.accents + encoder.sizes.code
        numbers = [
            torch.tensor([one.normals("pipeline.accent", count)], dtype=torch.float32)
            for one in pseudonyms
        ]
        each = [encoder.drawn(one.to(self.device)) for one in numbers]  # as in _chosen
        return DrawnAccent(*map(torch.cat, zip(*each, strict=True)))
