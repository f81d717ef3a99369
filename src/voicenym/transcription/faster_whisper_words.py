"""Words with times by faster-whisper: Whisper on CTranslate2, with times from its cross-attention.

Radford et al., "Robust speech recognition via large-scale weak supervision", ICML 2023. Decoding is
a beam search without sampling, so that a stretch of speech always has the same words.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, VoicenymError
from voicenym.libraries import library, without_local_settings
from voicenym.nets import hub
from voicenym.nets.catalogue import CATALOGUE, known
from voicenym.nets.checkpoint import DIGEST, configuration
from voicenym.nets.names_and_paths import HUB_NAME, as_path, is_path, unambiguous
from voicenym.nets.words.whisper.ctranslate2_folder import check
from voicenym.recognition.interface import Recording, checked
from voicenym.transcription.timed_words import Word
from voicenym.transcription.word_recogniser import Heard

PREFIX = "faster-whisper-"
SMALLEST = f"{PREFIX}tiny.en"
BEAM = 5
LOOP = 2.4
"""Ratio of a text's length to that of its compressed form above which it repeats itself, as
published (Radford et al., section 4.5)."""


class FasterWhisperWords:
    """A Whisper of CTranslate2 with times of words.

    Args:
        model: a folder as ``./FOLDER`` or absolute; a name of ``voicenym models list``, with or
            without ``faster-whisper-``; or ``owner/name`` of the hub. Nothing is fetched. Empty:
            the largest that was pulled.
        language: code such as ``en``; None for detection by a model of several languages.
        device: ``cpu`` or ``cuda``.
        threads: of the processor; 0 for all.

    Raises:
        DependencyError: faster-whisper is not installed.
        VoicenymError: no such model here, a damaged one, or a language that it does not know.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] = "",
        *,
        language: str | None = None,
        device: str = "cpu",
        threads: int = 0,
    ) -> None:
        place = folder_of(model if isinstance(model, str) else as_path(model))
        place = place.resolve()  # before the current folder is another for a while
        try:
            faster_whisper: Any = library("faster_whisper")
        except ImportError as error:
            raise DependencyError(
                "faster-whisper is not installed: pip install 'voicenym[speech]'"
            ) from error
        try:
            with without_local_settings():
                self._model = faster_whisper.WhisperModel(
                    str(place),
                    device=device,
                    compute_type="int8" if device == "cpu" else "default",
                    cpu_threads=threads or len(os.sched_getaffinity(0)),
                    local_files_only=True,
                )
        except (RuntimeError, ValueError, OSError, Exception) as error:  # tokenizers' is bare
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise VoicenymError(f"{place}: no Whisper that can be run ({first})") from None
        self._name = str(model).rstrip("/").rsplit("/", 1)[-1] or place.name
        self._place = place
        self._language = self._checked(language)
        self._assumes = "" if language is not None else self._language or ""

    @property
    def assumes(self) -> str:
        return self._assumes

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> str:
        """First half of the digest of a pulled model; its size in bytes for others."""
        config = configuration(self._place)
        size = (self._place / "model.bin").stat().st_size
        return str(config.get(DIGEST, f"{size} bytes"))[:16]

    def _checked(self, language: str | None) -> str | None:
        spoken = list(self._model.supported_languages)
        if len(spoken) == 1 and language in (None, *spoken):
            return str(spoken[0])
        if language is not None and language not in spoken:
            some = ", ".join(spoken[:12]) + (", ..." if len(spoken) > 12 else "")
            raise VoicenymError(
                f"{self._name}: does not know the language {language!r}; it knows {some}"
                + ("; pull faster-whisper-small for others" if len(spoken) == 1 else "")
            )
        return language

    def hear(
        self, samples: Recording, language: str | None = None, hints: Sequence[str] = ()
    ) -> Heard:
        signal = checked(samples, 0)
        segments, spoken = self._decoded(signal, language, hints)
        if any(segment.compression_ratio > LOOP for segment in segments):
            # a text that repeats itself hides what was said: once more, without repetitions
            segments, spoken = self._decoded(signal, language, (), no_repeat_ngram_size=3)
        words: list[Word] = []
        for segment in segments:
            words += _words(segment)
        return Heard(tuple(words), spoken)

    def _decoded(
        self, samples: Recording, language: str | None, hints: Sequence[str], **options: Any
    ) -> tuple[list[Any], str]:
        segments, info = self._model.transcribe(
            samples,
            language=self._language or language,
            beam_size=BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            word_timestamps=True,
            hotwords=", ".join(hints) or None,
            **options,
        )
        return list(segments), str(info.language)


def _words(segment: Any) -> list[Word]:
    """Words of a segment; without times where the aligner gave none."""
    span = (float(segment.start), float(segment.end))
    if not segment.words:
        return [
            Word(text, span[0], span[0], 0.0, span, opens=i == 0)
            for i, text in enumerate(segment.text.split())
        ]
    found: list[Word] = []
    for one in segment.words:
        if not one.word.strip():
            continue
        found.append(
            Word(
                one.word.strip(),
                float(one.start),
                float(one.end),
                float(one.probability),
                span,
                opens=not found,
                glued=not one.word[:1].isspace(),
            )
        )
    return found


def at_hand() -> str:
    """Name of the largest model with times of words that was pulled; empty without one."""
    here = set(hub.pulled())
    found = [p for p in CATALOGUE if p.convert == "ctranslate2" and p.name in here]
    return max(found, key=lambda p: p.megabytes).name if found else ""


def folder_of(model: str) -> Path:
    """Folder of a model; nothing is fetched.

    Args:
        model: as of :class:`FasterWhisperWords`.

    Raises:
        VoicenymError: it is not here; the message names the command that fetches it.
    """
    model = model or at_hand()
    if not model:
        raise VoicenymError(
            "no recogniser with times of words is here; fetch one once (voicenym models pull "
            f"{SMALLEST}, 76 MB, English) or give a folder (--recogniser ./FOLDER)"
        )
    named = HUB_NAME.fullmatch(model)
    if named is not None:
        unambiguous(model)
        return check(_of_hub(model, named["name"], named["revision"]))
    if is_path(model):
        return check(Path(model))
    return check(Path(hub.place_of(model if known(model) else _full(model))))


def _full(name: str) -> str:
    """Name of the catalogue for one without its beginning."""
    return f"{PREFIX}{name}" if known(f"{PREFIX}{name}") else name


def _of_hub(model: str, name: str, revision: str | None) -> Path:
    try:
        import huggingface_hub
    except ImportError as error:
        raise DependencyError(
            f"{model}: a name on the hub, for which: pip install 'voicenym[speech]'"
        ) from error
    try:
        return Path(
            huggingface_hub.snapshot_download(name, revision=revision, local_files_only=True)
        )
    except Exception:  # of whichever kind the hub's library has for a missing folder
        cure = f"hf download {name}" + (f" --revision {revision}" if revision else "")
        raise VoicenymError(
            f"{model}: not here yet, and nothing is fetched without being asked; fetch it once: "
            f"{cure}"
        ) from None
