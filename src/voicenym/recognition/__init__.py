"""Speech recognition: recognisers behind one interface, and transcripts of other recognisers.

>>> from voicenym.recognition import available, recogniser
>>> sorted(available()) == available()
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from voicenym.registry import Entry, Registry

if TYPE_CHECKING:
    from pathlib import Path

    from voicenym.recognition.ctc_recogniser import Trained
    from voicenym.recognition.hybrid_recogniser import Hybrid
    from voicenym.recognition.interface import Recogniser
    from voicenym.recognition.phones.phone_recogniser import PhoneRecogniser, pronounced
    from voicenym.recognition.transcripts import Transcripts, read_transcripts
    from voicenym.recognition.whisper_recogniser import WhisperRecogniser

RECOGNISERS: Registry[Recogniser] = Registry(
    "recogniser",
    {
        "ctc": Entry(f"{__name__}.ctc_recogniser:Trained", needs="safetensors"),
        "hybrid": Entry(f"{__name__}.hybrid_recogniser:Hybrid", needs="safetensors"),
        "sphinx": Entry(f"{__name__}.sphinx_processes.sphinx:Sphinx", needs="pocketsphinx"),
        "wav2vec2": Entry(
            f"{__name__}.published_recogniser:Pretrained",
            needs="transformers",
            defaults={"weights": "facebook/wav2vec2-base-960h"},
        ),
        "whisper": Entry(f"{__name__}.whisper_recogniser:WhisperRecogniser", needs="safetensors"),
    },
    group="voicenym.recognisers",
    attributes=("name", "identity", "transcribe", "close"),
)
"""Recognisers by name, with the library that each needs; other packages declare theirs in the
group."""

_FACE = {
    "PhoneRecogniser": "phones.phone_recogniser",
    "Recogniser": "interface",
    "Transcripts": "transcripts",
    "pronounced": "phones.phone_recogniser",
    "read_transcripts": "transcripts",
}

__all__ = [
    "RECOGNISERS",
    "PhoneRecogniser",
    "Recogniser",
    "Transcripts",
    "available",
    "of_folder",
    "pronounced",
    "read_transcripts",
    "recogniser",
]


def available() -> list[str]:
    """Names of the recognisers whose library is installed.

    Weights may still be missing: ``wav2vec2`` fetches its own at the first use, ``whisper`` needs
    pulled ones or a folder, and ``ctc`` and ``hybrid`` need a folder.
    """
    return RECOGNISERS.installed()


def recogniser(name: str, /, **options: Any) -> Recogniser:
    """A recogniser by name.

    Args:
        name: ``sphinx``, ``whisper``, ``wav2vec2``, or, for a folder of a training, ``hybrid``
            (phones) or ``ctc`` (characters), or that of another package; options may follow:
            ``whisper:weights=FOLDER``.
        options: of :class:`~voicenym.recognition.sphinx_processes.sphinx.Sphinx` (``sentences``,
            ``phrases``...), :class:`~voicenym.recognition.whisper_recogniser.WhisperRecogniser`
            (``weights``, ``language``...),
            :class:`~voicenym.recognition.published_recogniser.Pretrained` (``weights``,
            ``device``...), :class:`~voicenym.recognition.hybrid_recogniser.Hybrid` (``weights``,
            ``order``...) or :class:`~voicenym.recognition.ctc_recogniser.Trained` (``weights``,
            ``beam``...).

    Raises:
        DependencyError: its library is not installed.
        VoicenymError: no such recogniser, no weights, or what its class raises.

    Example:
        >>> whisper = recogniser("whisper", weights="./models/whisper-small.en")  # doctest: +SKIP
        >>> whisper.transcribe([samples])                                       # doctest: +SKIP
        ['Please call Stella.']
    """
    return RECOGNISERS.load(name, **options)


def of_folder(folder: Path | str) -> Trained | Hybrid | WhisperRecogniser:
    """The recogniser in a folder of ``voicenym train whisper``, ``recogniser`` or ``hybrid``.

    Raises:
        DependencyError: safetensors is not installed.
        VoicenymError: no such folder, or weights that do not fit.
    """
    from pathlib import Path

    from voicenym.nets.checkpoint import configuration
    from voicenym.nets.words.phone_states.phone_model import holds_phones
    from voicenym.recognition.ctc_recogniser import Trained
    from voicenym.recognition.hybrid_recogniser import Hybrid
    from voicenym.recognition.whisper_recogniser import WhisperRecogniser

    if configuration(Path(folder)).get("kind") == "whisper":
        return WhisperRecogniser(Path(folder))
    return Hybrid(folder) if holds_phones(folder) else Trained(folder)


def __getattr__(name: str) -> Any:
    if name not in _FACE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FACE[name]}"), name)
