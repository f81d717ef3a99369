"""A published checkpoint as a folder of ours: ``config.json`` and ``model.safetensors``.

Afterwards nothing needs the checkpoint, nor what it was written with; its digest is in the card.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.hub import sha256

Options = Mapping[str, Any]


def convert(checkpoint: Path, kind: str, folder: Path, options: Options | None = None) -> str:
    """Write a checkpoint in our own format.

    Args:
        checkpoint: file, or folder that holds it.
        kind: one of :data:`KINDS`.
        folder: written to; made where there is none.
        options: of the kind; see :data:`KINDS`.

    Returns:
        What was written, in a line.

    Raises:
        DependencyError, VoicenymError: no such kind or option, a checkpoint that cannot be read or
            of another architecture, a folder that cannot be written.
    """
    if kind not in KINDS:
        raise VoicenymError(f"no kind {kind!r} to convert; there are: {', '.join(sorted(KINDS))}")
    converted, known = KINDS[kind]
    given = {name: value for name, value in (options or {}).items() if value is not None}
    unknown = sorted(set(given) - set(known))
    if unknown:
        what = f"it has {', '.join(known)}" if known else "it has none"
        raise VoicenymError(f"{kind} has no option {unknown[0]}; {what}")
    if not checkpoint.exists():
        raise VoicenymError(f"{checkpoint}: not found; give a checkpoint, or its folder")
    if folder.resolve() == (checkpoint if checkpoint.is_dir() else checkpoint.parent).resolve():
        raise VoicenymError(f"{folder}: holds the checkpoint; choose another folder to write to")
    return converted(checkpoint, folder, given)


def _hubert_soft(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.content.hubert_published import from_published, located
    from voicenym.nets.content.weights import save

    path = located(checkpoint)
    network = from_published(path, layers=options.get("layers"))
    save(network, folder, _card(path))
    config = network.config()
    return f"{config['layers']} layers, {network.size} numbers, {network.units} units"


def _wav2vec2(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.content.hubert_published import located
    from voicenym.nets.content.wav2vec import Wav2Vec
    from voicenym.nets.content.weights import save

    if not checkpoint.is_dir():
        raise VoicenymError(f"{checkpoint}: give its folder, with config.json beside the weights")
    network = Wav2Vec.from_published(str(checkpoint), options.get("layers"))
    save(network, folder, _card(located(checkpoint)))
    return f"layer {network.layer}, {network.size} numbers"


def _hifigan(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.content.hubert_published import located
    from voicenym.nets.synthesis.hifigan import HifiGan
    from voicenym.nets.synthesis.synthesizers import save

    if checkpoint.is_dir():
        files = sorted(p for p in checkpoint.iterdir() if p.is_file() and p.suffix != ".json")
        checkpoint = files[0] if len(files) == 1 else located(checkpoint)
    path = Path(options.get("config") or checkpoint.parent / "config.json")
    try:
        config = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VoicenymError(
            f"{path}: cannot be read ({error}); give --config, the file that was published with "
            "the checkpoint"
        ) from error
    network = HifiGan.from_published(
        checkpoint,
        config,
        int(options.get("content", 200)),
        int(options.get("speaker", 192)),
        str(options.get("pitch", "hertz")),
    )
    save(network, folder, _card(checkpoint))
    return f"frames of {network.conditions.size} numbers and {network.hop} samples"


def _speaker(kind: str) -> Callable[[Path, Path, Options], str]:
    def converted(checkpoint: Path, folder: Path, options: Options) -> str:
        from voicenym.nets.speakers.published import find, published
        from voicenym.nets.speakers.weights import save

        encoder = published(kind, str(checkpoint))
        save(encoder, folder, _card(find(str(checkpoint))))
        return f"vectors of {encoder.size} numbers"

    return converted


def _card(path: Path) -> dict[str, Any]:
    """Where weights come from."""
    return {"converted from": path.name, "its SHA-256": sha256(path)}


KINDS: dict[str, tuple[Callable[[Path, Path, Options], str], tuple[str, ...]]] = {
    "hubert-soft": (_hubert_soft, ("layers",)),
    "wav2vec2": (_wav2vec2, ("layers",)),
    "hifigan": (_hifigan, ("config", "content", "speaker", "pitch")),
    "ecapa": (_speaker("ecapa"), ()),
    "xvector": (_speaker("xvector"), ()),
}
"""What becomes of a checkpoint, and the options that this has."""
