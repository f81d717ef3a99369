"""Folders of CTranslate2 with a Whisper, which faster-whisper runs: checked, and copied as pulled.

CTranslate2 ignores keys of ``config.json`` that it does not know, so that a pulled folder holds the
digest of its files there, as the package's own folders do.
"""

from __future__ import annotations

import json
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import configuration
from voicenym.nets.sealed_folder import check_seal, sealed
from voicenym.nets.weights.weight_files import CONFIG, copy_files
from voicenym.nets.words.whisper.ctranslate2_binary import BINARY, not_finite, places
from voicenym.nets.words.whisper.whisper_published import ctranslate2_files
from voicenym.nets.words.whisper.whisper_vocabulary import TOKENIZER


def check(folder: Path) -> Path:
    """The folder, if it holds a Whisper of CTranslate2.

    Raises:
        VoicenymError: a file is missing, the binary is of another network, or cut off, or a file of
            a folder that was pulled or converted has changed.
    """
    if not folder.is_dir():
        raise VoicenymError(f"{folder}: no such folder; give one of CTranslate2 with a Whisper")
    for name in (BINARY, CONFIG, TOKENIZER):
        if not (folder / name).is_file():
            ours = (folder / "model.safetensors").is_file()
            raise VoicenymError(
                f"{folder}: holds no {name}; "
                + (
                    "a Whisper of another layout: convert it with ct2-transformers-converter, "
                    "or pull one: voicenym models pull faster-whisper-tiny.en"
                    if ours
                    else "give a folder of CTranslate2 with a Whisper"
                )
            )
    check_seal(folder, ctranslate2_files(folder))
    places(folder / BINARY)
    return folder


def copy(source: Path, folder: Path) -> str:
    """Copies a folder of CTranslate2 and adds the digest of its files to its configuration.

    Args:
        source: as published.
        folder: to write to.

    Raises:
        VoicenymError: as :func:`check`, weights that are not finite, or a folder that cannot be
            written.
    """
    check(source)
    if name := not_finite(source / BINARY):
        raise VoicenymError(
            f"{source / BINARY}: {name} is infinite or undefined in it; get an undamaged copy"
        )
    files = ctranslate2_files(source)
    try:
        settings = sealed(files, {**configuration(source), "kind": "ctranslate2"})
        copy_files(files, folder, json.dumps(settings, indent=2) + "\n")
    except OSError as error:
        raise VoicenymError(f"{folder}: cannot be written ({error.strerror})") from error
    size = (folder / BINARY).stat().st_size
    return f"Whisper of CTranslate2, {size / 1e6:.0f} MB"
