"""Speaker anonymization: hides who speaks in a recording and keeps what is said and how.

>>> import voicenym
>>> anonymize = voicenym.load("mcadams")
>>> key = voicenym.Key.generate()
>>> pseudonym = key.pseudonym("speaker-1")

``import voicenym`` does not import torch; the first object that needs it does.
"""

# Nothing may be imported before this, not even __future__: the current folder may have one.
from voicenym.isolation import isolate_command

isolate_command()

from importlib import import_module  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

__version__ = "0.1.0"

if TYPE_CHECKING:
    from voicenym.anonymizer import Anonymizer, Card, Stream, available, load, revisions
    from voicenym.audio import Audio, read, write
    from voicenym.corpus.batches.fallback import anonymize
    from voicenym.corpus.shards.column_anonymizer import ColumnAnonymizer
    from voicenym.errors import VoicenymError
    from voicenym.pseudonym import Key, Pseudonym
    from voicenym.training.recipes import train

# public name -> the module that holds it
_FACE = {
    "Audio": "voicenym.audio",
    "read": "voicenym.audio",
    "write": "voicenym.audio",
    "Key": "voicenym.pseudonym",
    "Pseudonym": "voicenym.pseudonym",
    "anonymize": "voicenym.corpus.batches.fallback",
    "Anonymizer": "voicenym.anonymizer",
    "Card": "voicenym.anonymizer",
    "ColumnAnonymizer": "voicenym.corpus.shards.column_anonymizer",
    "Stream": "voicenym.anonymizer",
    "load": "voicenym.anonymizer",
    "available": "voicenym.anonymizer",
    "revisions": "voicenym.anonymizer",
    "VoicenymError": "voicenym.errors",
    "train": "voicenym.training.recipes",
}

__all__ = [
    "Anonymizer",
    "Audio",
    "Card",
    "ColumnAnonymizer",
    "Key",
    "Pseudonym",
    "Stream",
    "VoicenymError",
    "__version__",
    "anonymize",
    "available",
    "load",
    "read",
    "revisions",
    "train",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module 'voicenym' has no attribute {name!r}")
    return getattr(import_module(_FACE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
