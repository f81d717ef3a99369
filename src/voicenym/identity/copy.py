"""Copy-synthesis: the speaker's own vector in all modules of a system, or in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity, Sex, inner
from voicenym.pseudonym import Pseudonym

Part = Literal["acoustic", "vocoder"]


@dataclass(frozen=True)
class Copy(Identity):
    """The unchanged vector: copy-synthesis, without protection.

    It measures the effect of resynthesis alone (the challenge's M1c2).

    Source: Champion, Jouvet and Larcher, VoicePrivacy Challenge 2020 (M1c2 of Tomashenko
    et al. 2022, table 1).
    """

    name: ClassVar[str] = "copy"
    source: ClassVar[str] = "Champion et al. 2020 (M1c2 in Tomashenko et al. 2022)"

    @property
    def draws(self) -> bool:
        return False

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        return vectors.clone()


@dataclass(frozen=True)
class Half(Identity):
    """Another method in one module of a system, and the speaker's own vector in the other.

    For systems whose acoustic model and vocoder are conditioned separately, as ``b1a``: they call
    :func:`for_parts`. The method itself gives the vector of the anonymized module.

    Args:
        of: the method.
        part: the anonymized module: ``acoustic`` is the challenge's M1c3, ``vocoder`` its M1c4. In
            its figures the acoustic model determines the voice: EER of the ignorant, women and men,
            47.3 and 52.1 % for M1c3; 22.1 and 19.6 % for M1c4, where copy-synthesis (M1c2) has 28.7
            and 19.8 %.

    Raises:
        UnknownSystemError: another module, or a nested :class:`Half`.

    Source: Champion, Jouvet and Larcher, VoicePrivacy Challenge 2020; labels: Tomashenko et
    al. (2022, supplement), table 1; figures, of LibriSpeech's test set: their table 3.
    """

    of: Identity
    part: Part = "acoustic"

    name: ClassVar[str] = "half"
    source: ClassVar[str] = "Champion et al. 2020 (M1c3 and M1c4 in Tomashenko et al. 2022)"
    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        inner(self.name, self.of)
        if self.part not in get_args(Part):
            raise UnknownSystemError(
                f"half: part is one of {', '.join(get_args(Part))}, not {self.part!r}"
            )

    @property
    def draws(self) -> bool:
        return self.of.draws

    def own_voice(self, direction: bool = False) -> str:
        return "both modules get the speaker's own vector" if isinstance(self.of, Copy) else ""

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        return self.of.anonymize(vectors, pseudonyms, sexes)


def for_parts(
    identity: Identity,
    vectors: torch.Tensor,
    pseudonyms: Sequence[Pseudonym],
) -> tuple[torch.Tensor, torch.Tensor]:
    """Conditioning vectors of the acoustic model and of the vocoder, ``[row, element]`` each.

    Args:
        identity: any method; all but :class:`Half` give both the same.
        vectors, pseudonyms: as of :meth:`Identity.batch`.
    """
    pseudo = identity.batch(vectors, pseudonyms)
    if not isinstance(identity, Half):
        return pseudo, pseudo
    return (pseudo, vectors) if identity.part == "acoustic" else (vectors, pseudo)
