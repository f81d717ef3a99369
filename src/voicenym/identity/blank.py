"""Empty speaker vector, or a blend with it: the anonymization of MUSA (Yao et al. 2024)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity, Sex

if TYPE_CHECKING:
    import torch

    from voicenym.pseudonym import Pseudonym


@dataclass(frozen=True)
class Blank(Identity):
    """Zero vector, blended with the speaker's own vector for ``strength`` below 1.

    All speakers get the same voice, so that voices are not distinct.

    Args:
        strength: 1 is the empty vector, 0 the speaker's own.

    Source: Yao et al., MUSA (2024), the anonymization strategy and its linear blend.
    """

    strength: float = 1.0

    name: ClassVar[str] = "blank"
    source: ClassVar[str] = "MUSA (Yao et al. 2024): empty speaker embedding, linear blend"
    hertz: ClassVar[bool] = False  # 0 Hz is no formant frequency

    def __post_init__(self) -> None:
        if not 0.0 <= self.strength <= 1.0:
            raise UnknownSystemError(f"blank: strength needs 0 to 1, not {self.strength}")

    @property
    def draws(self) -> bool:
        return False

    def own_voice(self, direction: bool = False) -> str:
        if self.strength > 0.0 and not (direction and self.strength < 1.0):
            return ""
        short = ", since the system ignores the length of vectors" if self.strength else ""
        return f"strength={self.strength:g} keeps the speaker's own vector{short}"

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        return (1.0 - self.strength) * vectors
