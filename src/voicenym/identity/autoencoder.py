"""Vectors through an autoencoder that hides sex, accent and speaker: the challenge's S1 and S2."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch

from voicenym.errors import VoicenymError
from voicenym.identity.method import Identity, Sex, inner
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    from voicenym.nets.identity.autoencoder import Autoencoder


@dataclass(frozen=True)
class Autoencoded(Identity):
    """What an adversarially trained autoencoder leaves of a vector.

    Alone it is the challenge's S1c1 (and S2c1, with other settings of the training): it draws
    nothing, so that a speaker has one pseudo-speaker under all keys, which the lazy-informed
    computes as well. After selection it is S1 (and S2).

    Args:
        model: folder, of ``voicenym train autoencoder``.
        of: a method that comes before; None for none.

    Source: Espinoza-Cuadros et al. 2020, and Perero-Codosero et al., Computer Speech & Language
    2022 (S1, S1c1, S2, S2c1 of paper 4, table 1). Widths and weights of the adversaries are not
    known here, so that they are settings of the training.
    """

    model: str
    of: Identity | None = None

    name: ClassVar[str] = "autoencoder"
    source: ClassVar[str] = "Espinoza-Cuadros et al. 2020 (S1, S2 of paper 4, table 1)"

    def __post_init__(self) -> None:
        if self.of is not None:
            inner(self.name, self.of)

    def become(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        network, encoder = _opened(self.model)
        if vectors.shape[1] != network.size:
            raise VoicenymError(
                f"a speaker vector has {vectors.shape[1]} elements, those of the autoencoder, by "
                f"{encoder}, have {network.size}: use its encoder, or train one for the other"
            )
        pseudo = vectors if self.of is None else self.of.become(vectors, pseudonyms, sexes)
        with torch.inference_mode():
            # one by one: a product's rounding depends on how many rows it has
            found = [network(row[None].cpu().float())[0] for row in pseudo]
        return torch.stack(found).clone()


def _opened(folder: str) -> tuple[Autoencoder, str]:
    from voicenym.nets.folder import CONFIG

    try:
        stamp = os.stat(Path(folder) / CONFIG).st_mtime_ns
    except OSError as error:
        raise VoicenymError(
            f"{folder}: no autoencoder there ({error.strerror}); train one: voicenym train "
            f"autoencoder VECTORS -o {folder}"
        ) from error
    return _loaded(folder, stamp)


@lru_cache(maxsize=4)
def _loaded(folder: str, stamp: int) -> tuple[Autoencoder, str]:
    from voicenym.nets.identity.autoencoder import load

    network, config = load(Path(folder))
    return network, str(config.get("encoder", ""))
