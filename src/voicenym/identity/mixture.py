"""Pseudo-speakers drawn from a Gaussian mixture model of speaker vectors (Turner et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, Sex, UnlikelyDrawError
from voicenym.identity.pools.sex_rule import Rule, checked_rule, chosen_sex
from voicenym.identity.pools.vector_mixture import Gaussians, Mixtures, opened
from voicenym.pseudonym import Pseudonym

RETRIES = 1000
"""Largest number of draws."""


@dataclass(frozen=True)
class Mixture(Identity):
    """Draw from a Gaussian mixture in the principal components of speaker vectors.

    Args:
        model: mixtures by sex, or their folder, written by ``voicenym train mixture``.
        theta: forced dissimilarity: a draw whose cosine with the speaker's vector exceeds it is
            rejected; None (as for most of the paper's figures) accepts the first draw.
        retries: largest number of draws, with ``theta``.
        sex: ``same``, ``opposite`` or ``any`` (drawn by the pseudonym).

    Raises:
        VoicenymError: from a call: no draw was dissimilar enough; the message gives the lowest
            cosine.

    Source: Turner, Lovisotto and Martinovic, "Generating identities with mixture models for speaker
    anonymization" (2022), sections 3.3 and 3.5; the challenge's O1 and O1c1.
    """

    model: Mixtures | str
    theta: float | None = None
    retries: int = RETRIES
    sex: Rule = "same"

    name: ClassVar[str] = "mixture"
    source: ClassVar[str] = "Turner et al. 2022, sections 3.3 and 3.5"

    def __post_init__(self) -> None:
        checked_rule(self.name, self.sex)
        if self.theta is not None and not -1.0 <= self.theta <= 1.0:
            raise UnknownSystemError(f"mixture: theta is a cosine, -1 to 1, not {self.theta}")
        if self.retries < 1:
            raise UnknownSystemError(f"mixture: retries needs 1 draw or more, not {self.retries}")

    @property
    def source_dependent(self) -> bool:
        return self.theta is not None or self.sex != "any"

    def encoder(self) -> str:
        return opened(self.model).version

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        model = opened(self.model)
        if vectors.shape[1] != model.size:
            raise VoicenymError(
                f"a speaker vector has {vectors.shape[1]} elements, those of the mixture, by "
                f"{model.encoder}, have {model.size}: use the mixture's encoder, or train a "
                "mixture with the other one"
            )
        rows = zip(vectors.cpu().double(), pseudonyms, sexes, strict=True)
        return torch.stack([self._one(model, *row) for row in rows])

    def _one(
        self, model: Mixtures, vector: torch.Tensor, pseudonym: Pseudonym, sex: Sex | None
    ) -> torch.Tensor:
        group = self._group(model, vector, pseudonym, sex)
        if self.theta is None:
            return group.draw(pseudonym, "mixture.0")
        best = 1.0
        own = vector / vector.norm()
        for attempt in range(self.retries):
            drawn = group.draw(pseudonym, f"mixture.{attempt}")
            cosine = float((own * drawn).sum() / drawn.norm())
            if cosine <= self.theta:
                return drawn
            best = min(best, cosine)
        raise UnlikelyDrawError(
            f"mixture: none of {self.retries} draws is as unlike the speaker as theta="
            f"{self.theta:g} asks; the least alike has a cosine of {best:.3f}, for speakers of the "
            f"mixture are alike: set theta to {best + 0.01:.2f} or more, sex='opposite', or more "
            "retries"
        )

    def _group(
        self, model: Mixtures, vector: torch.Tensor, pseudonym: Pseudonym, sex: Sex | None
    ) -> Gaussians:
        """Mixture for the sex of the pseudo-speaker."""
        if set(model.groups) == {""}:
            if self.sex == "opposite":
                raise VoicenymError(
                    "mixture: the model is of all speakers, without sexes: train it on a pool that "
                    "knows them, or set sex='any'"
                )
            return model.groups[""]
        if self.sex == "any":
            known = [name for name in ("f", "m") if name in model.groups]
            wanted = known[pseudonym.index("mixture.sex", len(known))]
        else:
            likely = sex or model.sex_of(vector)
            wanted = chosen_sex(self.sex, "f" if likely == "f" else "m") or ""
        if wanted not in model.groups:
            raise VoicenymError(
                f"mixture: the model has no speakers of sex {wanted!r}: train it on a pool with "
                "such speakers, or set sex='any'"
            )
        return model.groups[wanted]
