"""Compatibility of an identity method with a system, checked before the first recording is
processed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.method import Identity, UnlikelyDrawError
from voicenym.pseudonym import Key

if TYPE_CHECKING:
    import torch

COPY = "copy"
"""Name of the method that keeps the speaker's voice."""


def fit(
    method: Identity,
    system: str,
    parts: Sequence[str] = (),
    *,
    hertz: bool = False,
    direction: bool = False,
) -> None:
    """Rejects a method that a system cannot use, or that would leave the speaker's own voice.

    Args:
        method: with its inner methods.
        system: its name, for errors.
        parts: separately conditioned modules of its synthesis.
        hertz: whether its vectors are frequencies ``[F0, F1, ...]`` in Hz.
        direction: whether it uses the direction of vectors alone.

    Raises:
        UnknownSystemError: which method, why, and which systems it is for.
        VoicenymError: the method's data are missing or damaged.
    """
    for some in within(method):
        if own := some.own_voice(direction):
            raise UnknownSystemError(
                f"{system}: {some.name}: {own}; choose other settings, or {COPY}, which keeps the "
                "speaker's voice by name"
            )
        if not some.whole and len(parts) < 2:
            raise UnknownSystemError(
                f"{system}: {some.name} gives two parts of a system different voices, and here one "
                "part alone gets one; b1a has two (acoustic model and vocoder), as has any with a "
                "synthesizer of two models, such as acoustic-nsf or acoustic-istft"
            )
        if some.hertz and not hertz:
            raise UnknownSystemError(
                f"{system}: {some.name} scales formants and pitch in Hz, and voices here are "
                "speaker vectors; it is for the bundled weights of ssl-*, b1* and word-codes, or "
                "for the speaker encoder of voicenym models formants, and a synthesizer that was "
                "trained with it"
            )
        if hertz and some.hertz is False:
            raise UnknownSystemError(
                f"{system}: {some.name} is for speaker vectors, and voices here are frequencies in "
                "Hz; formant-pitch is for those, copy for comparison"
            )


def tried(method: Identity, vector: torch.Tensor, encoders: Collection[str] = ()) -> None:
    """Applies the method to a test vector, which reads its pools and networks and compares sizes
    and encoders.

    Args:
        method: any.
        vector: ``[element]``, as the system computes it.
        encoders: version names of the weights of the system's encoder; none for unknown.

    Raises:
        VoicenymError: as of :meth:`Identity.batch`, except for an unlikely draw, which depends on
            the vector; also for data of another encoder, even of the same size.
    """
    for some in within(method):
        made = some.encoder()
        if encoders and made and made not in encoders:
            raise VoicenymError(
                f"{some.name}: its pool or network was made of vectors of another speaker encoder "
                f"({made}) than the system's ({', '.join(sorted(encoders))}): make it again with "
                "the system's"
            )
    nobody = Key(bytes(32)).pseudonym("nobody")  # the result is discarded
    try:
        method(vector, nobody)
    except UnlikelyDrawError:
        return


def within(method: Identity) -> Iterator[Identity]:
    """The method and all its inner methods."""
    yield method
    for field in dataclasses.fields(method):
        value = getattr(method, field.name)
        if isinstance(value, Identity):
            yield from within(value)


def version(method: Identity | None) -> str:
    """Version of the pools and networks in the folders that a method names; empty without folders.

    Raises:
        VoicenymError: a folder's configuration that cannot be read.
    """
    from voicenym.nets import checkpoint

    if method is None:
        return ""
    named = [folder for some in within(method) for folder in some.folders]
    return checkpoint.together(*[checkpoint.stamp(Path(folder)) for folder in named])
