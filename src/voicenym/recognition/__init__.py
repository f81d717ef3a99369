"""How well speech is still understood: recognisers behind one interface, and others' transcripts.

>>> from voicenym.recognition import available, recogniser
>>> sorted(available()) == available()
True
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from pathlib import Path

    from voicenym.recognition.hybrid import Hybrid
    from voicenym.recognition.protocol import Recogniser
    from voicenym.recognition.trained import Trained
    from voicenym.recognition.transcripts import Transcripts, read_transcripts

# name -> the library it needs, its module and class, and what it is made with unless told
_RECOGNISERS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "ctc": ("safetensors", "trained", "Trained", {}),
    "hybrid": ("safetensors", "hybrid", "Hybrid", {}),
    "sphinx": ("pocketsphinx", "sphinx", "Sphinx", {}),
    "wav2vec2": (
        "transformers",
        "pretrained",
        "Pretrained",
        {"weights": "facebook/wav2vec2-base-960h"},
    ),
    "whisper": ("transformers", "pretrained", "Pretrained", {"weights": "openai/whisper-small.en"}),
}

_FACE = {
    "Recogniser": "protocol",
    "Transcripts": "transcripts",
    "read_transcripts": "transcripts",
}

__all__ = [
    "Recogniser",
    "Transcripts",
    "available",
    "of_folder",
    "read_transcripts",
    "recogniser",
]


def available() -> list[str]:
    """Names of the recognisers whose library is installed.

    Weights are another matter: those of ``whisper`` and ``wav2vec2`` are fetched when they are
    first used, and ``ctc`` and ``hybrid`` want a folder of them.
    """
    return [name for name, (library, *_) in sorted(_RECOGNISERS.items()) if find_spec(library)]


def recogniser(name: str, **options: Any) -> Recogniser:
    """A recogniser by name.

    Args:
        name: ``sphinx``, ``whisper``, ``wav2vec2``, or for one that was trained here ``hybrid``
            (phones) or ``ctc`` (characters).
        options: of :class:`~voicenym.recognition.sphinx.Sphinx` (``sentences``, ``phrases``...),
            :class:`~voicenym.recognition.pretrained.Pretrained` (``weights``, ``device``...),
            :class:`~voicenym.recognition.hybrid.Hybrid` (``weights``, ``order``...) or
            :class:`~voicenym.recognition.trained.Trained` (``weights``, ``beam``...).

    Raises:
        DependencyError: its library is not installed.
        VoicenymError: no such recogniser, no weights, or what its class raises.

    Example:
        >>> ears = recogniser("whisper", weights="./models/whisper-small.en")  # doctest: +SKIP
        >>> ears.transcribe([samples])                                       # doctest: +SKIP
        ['Please call Stella.']
    """
    if name not in _RECOGNISERS:
        raise VoicenymError(f"no recogniser {name!r}; there are: {', '.join(sorted(_RECOGNISERS))}")
    _, module, kind, defaults = _RECOGNISERS[name]
    made: Recogniser = getattr(import_module(f"{__name__}.{module}"), kind)(
        **{**defaults, **options}
    )
    return made


def of_folder(folder: Path | str) -> Trained | Hybrid:
    """What ``voicenym train recogniser`` or ``voicenym train hybrid`` wrote, as a recogniser.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: no such folder, or weights that do not fit.
    """
    from voicenym.nets.words.phone_model import holds_phones
    from voicenym.recognition.hybrid import Hybrid
    from voicenym.recognition.trained import Trained

    return Hybrid(folder) if holds_phones(folder) else Trained(folder)


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FACE[name]}"), name)
