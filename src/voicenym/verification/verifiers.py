"""Verifiers by name.

Other packages declare theirs, classes derived from :class:`.Verifier` or functions that make one,
under the entry-point group ``voicenym.verifiers``.
"""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.errors import VoicenymError
from voicenym.nets.hub import is_pulled
from voicenym.nets.names_and_paths import hint, is_path
from voicenym.registry import OURS, Registry, near
from voicenym.verification.encoder_verifier import (
    RESEMBLYZER,
    EncoderVerifier,
    Resemblyzer,
    StoredEncoder,
)
from voicenym.verification.published_verifier import TITLES, Published
from voicenym.verification.verifier import Verifier

if TYPE_CHECKING:
    from voicenym.nets.speakers.speaker_encoder import Encoder


def _bundled() -> Verifier:
    from voicenym.nets.speakers.speaker_encoders import SMALL

    return StoredEncoder(SMALL, "ECAPA-TDNN small")


VERIFIERS: Registry[Verifier] = Registry(
    "verifier",
    {
        "ecapa-small": _bundled,
        RESEMBLYZER: Resemblyzer,
        "gmm-ubm": "voicenym.verification.gmm_ubm:GMMUBM",
        "ivector": "voicenym.verification.ivector:IVector",
        **{kind: partial(Published, kind) for kind in TITLES},
    },
    base=Verifier,
    group="voicenym.verifiers",
    attributes=("name", "version"),
    short=True,
)
"""Verifiers by name; those that need a folder or a place are named together with it."""
STATISTICAL = ("gmm-ubm", "ivector")
WHOLE = ("ecapa-small", RESEMBLYZER)
"""Verifiers whose name is enough."""


def installed() -> list[str]:
    """Names of the verifiers whose weights are here: the bundled one first."""
    return ["ecapa-small", *([RESEMBLYZER] if is_pulled(RESEMBLYZER) else [])]


def _is_theirs(kind: str) -> bool:
    """Whether another package declares a verifier.

    Raises:
        VoicenymError: several do.
    """
    return kind in VERIFIERS and VERIFIERS.package(kind) != OURS


def unconverted() -> str:
    """Message for an installed verifier without converted weights; else empty."""
    if is_pulled(RESEMBLYZER) or find_spec(RESEMBLYZER) is None:
        return ""
    return (
        f"{RESEMBLYZER} is left out: its weights are not converted yet: voicenym models pull "
        f"{RESEMBLYZER}"
    )


def verifier(name: str) -> Verifier:
    """A verifier by name, one that was trained here by its folder, or one of others by its place.

    Args:
        name: such as ``ecapa-small`` or ``gmm-ubm:./folder``; another package's may have
            parameters, ``NAME:FIELD=VALUE,...``.

    Raises:
        VoicenymError: with the names there are.
        DependencyError: if its weights or library are missing.
    """
    if not isinstance(name, str):
        raise VoicenymError(
            f"a verifier is given by its name, as text, not by {type(name).__name__}; there are: "
            f"{', '.join(WHOLE)}, and folders"
        )
    kind, _, place = name.partition(":")
    if name in WHOLE or (kind in VERIFIERS and place) or _is_theirs(kind):
        return VERIFIERS.load(name)
    if is_path(name) and Path(name).is_dir():
        return StoredEncoder(Path(name))
    statistical = " and ".join(f"{kind}:FOLDER" for kind in STATISTICAL)
    others = " and ".join(f"{kind}:PLACE" for kind in TITLES)
    whole = [*WHOLE, *filter(_is_theirs, VERIFIERS)]
    raise VoicenymError(
        f"no verifier {name!r}{near(name, VERIFIERS)}; there are: {', '.join(whole)}, the path of "
        f"any folder that voicenym train verifier wrote, {statistical} of what train ubm or train "
        f"ivector wrote, and {others} of what SpeechBrain published (a name that was pulled, or a "
        f"folder of voicenym models convert){hint(name)}"
    )


def network(name: str) -> EncoderVerifier:
    """A verifier that is a network, to go on training from.

    Args:
        name: ``ecapa-small``, ``resemblyzer``, a folder, ``ecapa:PLACE`` or ``xvector:PLACE``, or
            another package's that is an encoder.

    Raises:
        VoicenymError: with what there is.
        DependencyError: if its weights or library are missing.
    """
    kind, _, place = name.partition(":")
    known = name in WHOLE or (kind in TITLES and place) or _is_theirs(kind)
    found = verifier(name) if known or (is_path(name) and Path(name).is_dir()) else None
    if isinstance(found, EncoderVerifier):
        return found
    raise VoicenymError(
        f"no verifier {name!r} to go on from; there are: ecapa-small, resemblyzer, any folder that "
        f"voicenym train verifier wrote, and {' and '.join(f'{k}:PLACE' for k in TITLES)} of what "
        f"SpeechBrain published{hint(name)}"
    )


def encoder_of(name: str) -> Encoder:
    """The network of :func:`network`: a copy of its own."""
    return network(name).encoder()
