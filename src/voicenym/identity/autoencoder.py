"""Adversarial autoencoder that removes sex, accent and speaker from vectors: S1 and S2 of
VoicePrivacy 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch

from voicenym.errors import VoicenymError
from voicenym.identity.method import Identity, Sex, inner
from voicenym.nets.names_and_paths import hint, is_path
from voicenym.pseudonym import Pseudonym

if TYPE_CHECKING:
    from voicenym.nets.identity.vector_autoencoder import Autoencoder


@dataclass(frozen=True)
class Autoencoded(Identity):
    """Reconstruction of the speaker vector by an adversarially trained autoencoder.

    X-vectors of 512 elements are encoded to a code. Three adversarial classifiers learn to predict
    speaker, gender and accent (by nationality) from it, and the encoder learns against them by
    gradient reversal; it minimises MSE minus the sum of weighted cross-entropies.

    Alone it is the challenge's S1c1, and S2c1, which is S1c1 "with parameter optimization". The
    mapping is deterministic: a speaker has one pseudo-speaker under all keys, which a lazy-informed
    attacker can compute as well. After selection (``of=(selection:...)``) it is S1, and S2. Widths,
    weights of the adversaries and what S2 changes are not known here: they are settings of the
    training.

    Args:
        model: a folder of ``voicenym train autoencoder`` (a path needs a separator), or the name of
            one that comes with the package.
        of: identity method applied first; None for none.

    Published (women, men; LibriSpeech test): EER of the ignorant and of the lazy-informed in %, and
    G_VD in dB: S1 44.3, 47.2; 40.9, 39.9; -5.7, -11.5. S1c1 41.2, 40.5; 30.7, 36.8; -5.3, -9.5. S2
    44.5, 46.1; 35.6, 47.0; -12.2, -15.0. S2c1 43.6, 45.4; 35.0, 46.3; -11.4, -14.7.

    Source: Espinoza-Cuadros, Perero-Codosero, Antón-Martín and Hernández-Gómez, arXiv 2011.04696,
    2020; Perero-Codosero et al., Computer Speech & Language, 2022; labels: the challenge's
    survey (Tomashenko et al. 2022, supplement), table 1; figures: its tables 3 and 9.
    """

    model: str
    of: Identity | None = None

    name: ClassVar[str] = "autoencoder"
    source: ClassVar[str] = "Espinoza-Cuadros et al. 2020 (S1, S2 in Tomashenko et al. 2022)"

    def __post_init__(self) -> None:
        if self.of is not None:
            inner(self.name, self.of)

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(place for place in super().folders if is_path(place))  # others are bundled

    @property
    def draws(self) -> bool:
        return self.of is not None and self.of.draws

    def encoder(self) -> str:
        return _opened(self.model)[2]

    def anonymize(
        self,
        vectors: torch.Tensor,
        pseudonyms: Sequence[Pseudonym],
        sexes: Sequence[Sex | None],
    ) -> torch.Tensor:
        network, encoder, _ = _opened(self.model)
        if vectors.shape[1] != network.size:
            raise VoicenymError(
                f"a speaker vector has {vectors.shape[1]} elements, those of the autoencoder, by "
                f"{encoder}, have {network.size}: use its encoder, or train one for the other"
            )
        pseudo = vectors if self.of is None else self.of.anonymize(vectors, pseudonyms, sexes)
        with torch.inference_mode():
            # one by one: a product's rounding depends on how many rows it has
            found = [network(row[None].cpu().float())[0] for row in pseudo]
        return torch.stack(found).clone()


def _opened(model: str) -> tuple[Autoencoder, str, str]:
    from voicenym.nets.checkpoint import modified
    from voicenym.nets.identity.bundled_networks import BUNDLED, bundled
    from voicenym.nets.identity.vector_autoencoder import KIND

    folder = model
    if not is_path(model):
        if model not in (names := bundled(KIND)):
            raise VoicenymError(
                f"no autoencoder {model!r}; there are: {', '.join(names)}, and folders of voicenym "
                f"train autoencoder{hint(model)}"
            )
        folder = str(BUNDLED / model)
    cure = f"train one: voicenym train autoencoder VECTORS -o {folder}"
    return _loaded(folder, modified(Path(folder), "autoencoder", cure))


@lru_cache(maxsize=4)
def _loaded(folder: str, stamp: int) -> tuple[Autoencoder, str, str]:
    from voicenym.nets.identity.vector_autoencoder import load

    network, config = load(Path(folder))
    return network, str(config.get("encoder", "")), str(config.get("version", ""))
