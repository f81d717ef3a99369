"""Folders of CTranslate2 with a Whisper, which faster-whisper runs: checked, and copied as pulled.

CTranslate2 ignores keys of ``config.json`` that it does not know, so that a pulled folder holds the
digest of its files there, as the package's own folders do.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, DIGEST
from voicenym.nets.words.whisper_published import BINARY, SPEC
from voicenym.private import write_inside

TOKENIZERS = ("tokenizer.json",)
OTHERS = ("vocabulary.txt", "vocabulary.json", "preprocessor_config.json")
HEAD = 4096
BLOCK = 1 << 20


def check(folder: Path) -> Path:
    """The folder, if it holds a Whisper of CTranslate2.

    Raises:
        VoicenymError: a file is missing, or the binary is of another network.
    """
    if not folder.is_dir():
        raise VoicenymError(f"{folder}: no such folder; give one of CTranslate2 with a Whisper")
    for name in (BINARY, CONFIG, *TOKENIZERS):
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
    return folder


def files_digest(folder: Path) -> str:
    """SHA-256 of the files that a recogniser reads, without ``config.json``."""
    digest = hashlib.sha256()
    for name in (BINARY, *TOKENIZERS, *OTHERS):
        if not (folder / name).is_file():
            continue
        digest.update(f"{name} {(folder / name).stat().st_size} ".encode())
        with (folder / name).open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()


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
        for name in (BINARY, *TOKENIZERS, *OTHERS):
            if (source / name).is_file():
                shutil.copyfile(source / name, folder / name)
    except ValueError:
        raise VoicenymError(f"{source / CONFIG}: no JSON; fetch it again") from None
    except OSError as error:
        raise VoicenymError(f"{folder}: cannot be written ({error.strerror})") from error
    settings = {**settings, "kind": "ctranslate2", DIGEST: files_digest(folder)}
    write_inside(folder / CONFIG, json.dumps(settings, indent=2) + "\n")
    size = (folder / BINARY).stat().st_size
    return f"Whisper of CTranslate2, {size / 1e6:.0f} MB"
