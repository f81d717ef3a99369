"""An identity method: the speaker's vector in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

from voicenym import Pseudonym
from voicenym.errors import UnknownSystemError
from voicenym.identity import Identity, Sex


@dataclass(frozen=True)
class Shuffled(Identity):
    """Elements of the speaker's vector in an order that the pseudonym draws.

    Args:
        strength: 1 is the vector in the new order, 0 the speaker's own.
    """

    strength: float = 1.0

    name: ClassVar[str] = "shuffled"
    source: ClassVar[str] = "none; an example of a package that adds an identity method"

    def __post_init__(self) -> None:
        if not 0.0 < self.strength <= 1.0:
            raise UnknownSystemError(f"shuffled: strength needs 0 to 1, not {self.strength}")

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        orders = [
            torch.randperm(vectors.shape[1], generator=item.torch_rng("shuffled.order"))
            for item in pseudonyms
        ]
        orders = torch.stack(orders).to(vectors.device)
        return torch.lerp(vectors, vectors.gather(1, orders), self.strength)
