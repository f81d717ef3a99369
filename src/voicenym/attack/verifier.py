"""Verifiers: what turns a voice into a vector.

A verifier embeds recordings; a back end (:mod:`voicenym.attack.backend`) scores the vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from voicenym.attack.published import TITLES, Published
from voicenym.errors import DependencyError, VoicenymError

if TYPE_CHECKING:
    from voicenym.nets.speakers.encoder import Encoder


BUNDLED = Path(__file__).parents[1] / "nets" / "speakers" / "bundled" / "ecapa-small"
"""The verifier that comes with the package; its card lies beside its weights."""
MARGIN_CONCENTRATION = 30.0
"""Of encoders trained with an angular margin, unless they say: the scale of their logits."""


class Verifier(Protocol):
    """Embeds recordings; pickled to worker processes.

    Attributes:
        name: for reports.
        version: changes when the same recording would get another vector.

    One may have ``concentration``, how closely a speaker's vectors lie around their mean
    (:class:`voicenym.attack.search.KeySearch`), and ``calibration``, slope and offset from the
    cosine of two recordings to a log-likelihood ratio in nats.
    """

    name: str
    version: str

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        """Vectors ``[recording, dimension]`` of mono float32 recordings ``[time]`` at 16 kHz."""


class Resemblyzer:
    """The d-vector encoder that the Resemblyzer package carries, or weights fine-tuned from it.

    Only the package's weights are used; it need not be importable.

    Args:
        weights: a checkpoint in its layout; None for the package's own.
        name: for reports.
    """

    calibration = (35.0, -25.8)
    # logistic regression on 117,460 pairs of 3 s, 48 speakers of speechocean762's dev, C_llr 0.31

    def __init__(self, weights: Path | None = None, name: str = "Resemblyzer") -> None:
        self.name = name
        self._path = weights if weights is not None else _packaged_weights()
        self.version = hashlib.sha256(self._path.read_bytes()).hexdigest()[:16]

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        import torch

        vectors = _encoder(self._path).embed([torch.from_numpy(x) for x in recordings])
        return vectors.numpy()


class Trained:
    """An encoder that ``voicenym train verifier`` wrote.

    Args:
        folder: of its ``config.json`` and ``model.safetensors``.
        name: for reports; None for the folder's.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        from voicenym.nets.folder import DIGEST, configuration

        self.name = name or folder.resolve().name
        self._folder = folder
        told = configuration(folder)
        self.version = str(told.get(DIGEST, ""))[:16]
        slope, offset = told.get("calibration", (nan, nan))
        self.calibration = (float(slope), float(offset))
        self.concentration = float(told.get("concentration", MARGIN_CONCENTRATION))

    def embed(self, recordings: Sequence[np.ndarray]) -> np.ndarray:
        import torch

        vectors = _trained(self._folder, self.version).embed(
            [torch.from_numpy(x) for x in recordings]
        )
        return vectors.numpy()


def _packaged_weights() -> Path:
    spec = find_spec("resemblyzer")
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    for place in places:
        path = Path(place) / "pretrained.pt"
        if path.is_file():
            return path
    raise DependencyError(
        "the verifier's weights are missing: pip install voicenym[evaluate] && "
        "pip install --no-deps resemblyzer"
    )


@cache
def _trained(folder: Path, version: str):  # type: ignore[no-untyped-def]
    from voicenym.nets.speakers.weights import load

    return load(folder)


@cache
def _encoder(path: Path):  # type: ignore[no-untyped-def]
    from voicenym.nets.speakers.dvector import DVector

    return DVector.from_checkpoint(path)


def _bundled() -> Verifier:
    return Trained(BUNDLED, "ECAPA-TDNN small")


VERIFIERS: dict[str, Callable[[], Verifier]] = {
    "ecapa-small": _bundled,
    "resemblyzer": Resemblyzer,
}


STATISTICAL = ("gmm-ubm", "ivector")
"""Verifiers that are named together with their folder."""


def installed() -> list[str]:
    """Names of the verifiers whose weights are here: the bundled one first."""
    found = ["ecapa-small"]
    with suppress(DependencyError):
        _packaged_weights()
        found.append("resemblyzer")
    return found


def verifier(name: str) -> Verifier:
    """A verifier by name, one that was trained here by its folder, or one of others by its place.

    Raises:
        VoicenymError: with the names there are.
        DependencyError: if its weights or library are missing.
    """
    if name in VERIFIERS:
        return VERIFIERS[name]()
    kind, _, place = name.partition(":")
    if kind in STATISTICAL and place:
        return _statistical(kind, Path(place))
    if kind in TITLES and place:
        return Published(kind, place)
    if Path(name).is_dir():
        return Trained(Path(name))
    statistical = " and ".join(f"{kind}:FOLDER" for kind in STATISTICAL)
    others = " and ".join(f"{kind}:PLACE" for kind in TITLES)
    raise VoicenymError(
        f"no verifier {name!r}; there are: {', '.join(sorted(VERIFIERS))}, any folder that "
        f"voicenym train verifier wrote, {statistical} of what train ubm or train ivector wrote, "
        f"and {others} of what SpeechBrain published (a folder, or a name on the hub)"
    )


def _statistical(kind: str, folder: Path) -> Verifier:
    from voicenym.attack.gmm import GMMUBM
    from voicenym.attack.ivector import IVector

    return {"gmm-ubm": GMMUBM, "ivector": IVector}[kind](folder)


def encoder_of(name: str) -> Encoder:
    """A verifier's network, to go on training from: a copy of its own.

    Args:
        name: ``ecapa-small``, ``resemblyzer``, a folder, or ``ecapa:PLACE`` or ``xvector:PLACE``.

    Raises:
        VoicenymError: with what there is.
        DependencyError: if its weights or library are missing.
    """
    if name == "resemblyzer":
        from voicenym.nets.speakers.dvector import DVector

        return DVector.from_checkpoint(_packaged_weights())
    kind, _, checkpoint = name.partition(":")
    if kind in TITLES and checkpoint:
        from voicenym.nets.speakers.published import published

        return published(kind, checkpoint)
    place = BUNDLED if name == "ecapa-small" else Path(name)
    if place.is_dir():
        from voicenym.nets.speakers.weights import load

        return load(place)
    raise VoicenymError(
        f"no verifier {name!r} to go on from; there are: ecapa-small, resemblyzer, any folder that "
        f"voicenym train verifier wrote, and {' and '.join(f'{k}:PLACE' for k in TITLES)} of what "
        "SpeechBrain published"
    )
