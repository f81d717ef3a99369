"""Folders of CTranslate2 with a Whisper, which faster-whisper runs: checked, and copied as pulled.

CTranslate2 ignores keys of ``config.json`` that it does not know, so that a pulled folder holds the
digest of its files there, as the package's own folders do.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG
from voicenym.nets.sealed_folder import check_seal, sealed
from voicenym.nets.words.whisper_published import BINARY, SPEC, ctranslate2_files
from voicenym.nets.words.whisper_vocabulary import TOKENIZER
from voicenym.private import write_inside

HEAD = 4096


def check(folder: Path) -> Path:
    """The folder, if it holds a Whisper of CTranslate2.

    Raises:
        VoicenymError: a file is missing, the binary is of another network, or a file of a folder
            that was pulled or converted has changed.
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
    try:
        with (folder / BINARY).open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise VoicenymError(f"{folder / BINARY}: cannot be read ({error.strerror})") from None
    if SPEC.encode() not in head:
        raise VoicenymError(f"{folder / BINARY}: no Whisper of CTranslate2, or damaged; get a copy")
    check_seal(folder, ctranslate2_files(folder))
    return folder


def copy(source: Path, folder: Path) -> str:
    """Copies a folder of CTranslate2 and adds the digest of its files to its configuration.

    Args:
        source: as published.
        folder: to write to.

    Raises:
        VoicenymError: as :func:`check`, or a folder that cannot be written.
    """
    check(source)
    try:
        settings = json.loads((source / CONFIG).read_text("utf-8"))
        folder.mkdir(parents=True, exist_ok=True)
        for path in ctranslate2_files(source):
            shutil.copyfile(path, folder / path.name)
        settings = {**settings, "kind": "ctranslate2"}
        settings = sealed(folder, ctranslate2_files(folder), settings)
    except ValueError:
        raise VoicenymError(f"{source / CONFIG}: no JSON; fetch it again") from None
    except OSError as error:
        raise VoicenymError(f"{folder}: cannot be written ({error.strerror})") from error
    write_inside(folder / CONFIG, json.dumps(settings, indent=2) + "\n")
    size = (folder / BINARY).stat().st_size
    return f"Whisper of CTranslate2, {size / 1e6:.0f} MB"
