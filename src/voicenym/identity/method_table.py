"""Identity methods by name: :func:`identity`.

A method is a class in a file of this package and one line here. Other packages declare theirs under
the entry-point group ``voicenym.identities``, by the class's ``name``.
"""

from __future__ import annotations

from typing import Any

from voicenym.errors import UnknownSystemError
from voicenym.identity.method import Identity
from voicenym.nets.names_and_paths import as_path
from voicenym.registry import Registry

METHODS: Registry[Identity] = Registry(
    "identity",
    {
        "autoencoder": "voicenym.identity.autoencoder:Autoencoded",
        "blank": "voicenym.identity.blank:Blank",
        "copy": "voicenym.identity.copy:Copy",
        "distinct": "voicenym.identity.distinct:Distinct",
        "formant-pitch": "voicenym.identity.formant_pitch:FormantPitch",
        "half": "voicenym.identity.copy:Half",
        "householder": "voicenym.identity.householder:Householder",
        "indistinguishable": "voicenym.identity.voice_indistinguishability:Indistinguishable",
        "lookup": "voicenym.identity.lookup:Lookup",
        "mixture": "voicenym.identity.mixture:Mixture",
        "regression": "voicenym.identity.regression:Regression",
        "selection": "voicenym.identity.selection:Selection",
        "singular-values": "voicenym.identity.singular:SingularValues",
    },
    base=Identity,
    group="voicenym.identities",
    error=UnknownSystemError,
    attributes=("name", "source"),
    nested="a method in parentheses, such as (selection:pool=FOLDER)",
    path=as_path,
)
"""Identity methods; a method is imported when it is first asked for."""


def identities() -> list[str]:
    """Names of all methods, in alphabetical order."""
    return METHODS.names()


def identity(method: str, /, **parameters: Any) -> Identity:
    """A method by name.

    Args:
        method: one of :func:`identities`, or ``NAME:FIELD=VALUE,FIELD=VALUE``. A value in
            parentheses is a method again, for those that build on another:
            ``distinct:angle=10,pool=P,of=(selection:pool=P)``.
        parameters: fields of the method.

    Raises:
        UnknownSystemError: an unknown name or parameter, one that is required and missing, a value
            of another type, or text that is not of this form.

    Example:
        >>> identity("blank:strength=0.5")
        Blank(strength=0.5)
        >>> identity("blank", strength=0.5)
        Blank(strength=0.5)
    """
    return METHODS.load(method, **parameters)
