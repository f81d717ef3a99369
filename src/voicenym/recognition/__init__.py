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

    from voicenym.recognition.ctc_recogniser import Trained
    from voicenym.recognition.hybrid_recogniser import Hybrid
    from voicenym.recognition.interface import Recogniser
    from voicenym.recognition.transcripts import Transcripts, read_transcripts

# name -> the library it needs, its module and class, and what it is made with unless told
_RECOGNISERS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "ctc": ("safetensors", "ctc_recogniser", "Trained", {}),
    "hybrid": ("safetensors", "hybrid_recogniser", "Hybrid", {}),
    "sphinx": ("pocketsphinx", "sphinx", "Sphinx", {}),
    "wav2vec2": (
        "transformers",
        "published_recogniser",
        "Pretrained",
        {"weights": "facebook/wav2vec2-base-960h"},
    ),
    "whisper": (
        "transformers",
        "published_recogniser",
        "Pretrained",
        {"weights": "openai/whisper-small.en"},
    ),
}

_FACE = {
    "Recogniser": "interface",
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
            :class:`~voicenym.recognition.published_recogniser.Pretrained` (``weights``,
            ``device``...), :class:`~voicenym.recognition.hybrid_recogniser.Hybrid` (``weights``,
            ``order``...) or :class:`~voicenym.recognition.ctc_recogniser.Trained` (``weights``,
            ``beam``...).

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
    from voicenym.recognition.ctc_recogniser import Trained
    from voicenym.recognition.hybrid_recogniser import Hybrid

    return Hybrid(folder) if holds_phones(folder) else Trained(folder)


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FACE[name]}"), name)
