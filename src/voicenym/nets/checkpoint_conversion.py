"""Conversion of published checkpoints to the package's own format: ``config.json`` and
``model.safetensors``.

After the conversion neither the checkpoint nor its framework is needed; its digest is in the card.
This is the only module that opens checkpoints written by torch
(:mod:`voicenym.nets.weights.pickles`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError
from voicenym.nets.allocation_limit import limited
from voicenym.nets.checkpoint import CONFIG, MISMATCHES, SOURCE, WEIGHTS, read
from voicenym.nets.hub import PICKLED, SAFE_FILES, fetched, sha256, snapshot
from voicenym.nets.names_and_paths import is_hub_name, is_path
from voicenym.nets.weights import pickles
from voicenym.temporary import temporary_directory

Options = Mapping[str, Any]


def convert(checkpoint: Path, kind: str, folder: Path, options: Options | None = None) -> str:
    """Converts a checkpoint to the package's own format.

    Args:
        checkpoint: file, or folder that holds it.
        kind: one of :data:`KINDS`.
        folder: written to; made where there is none.
        options: of the kind; see :data:`KINDS`.

    Returns:
        One-line description of the result.

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
    try:
        with limited(checkpoint):
            return converted(checkpoint, folder, given)
    except OSError as error:
        raise VoicenymError(f"{error.filename or folder}: {error.strerror or error}") from error
    except MISMATCHES as error:
        line = str(error).partition("\n")[0]
        raise VoicenymError(
            f"{checkpoint}: no {kind}, or damaged ({type(error).__name__}: {line}); give one as "
            "published"
        ) from error


def source_of(place: str) -> Path:
    """Path of a checkpoint given by the user.

    Args:
        place: path of a file or folder; a name of the catalogue, or ``owner/name`` on the hub;
            missing ones are downloaded.

    Raises:
        DependencyError, VoicenymError: as of :mod:`voicenym.nets.hub`.
    """
    from voicenym.nets.speakers.speechbrain_encoder import CHECKPOINT

    if is_hub_name(place) and not Path(place).is_file():
        return snapshot(place, files=(CHECKPOINT, PICKLED, *SAFE_FILES))
    return Path(place) if is_path(place) else fetched(place)


def _hubert_soft(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.content.content_encoders import save
    from voicenym.nets.content.hubert_published import from_published, located

    path = located(checkpoint)
    network = from_published(pickles.state(path), path, layers=options.get("layers"))
    save(network, folder, _card(path))
    config = network.config()
    return f"{config['layers']} layers, {network.size} numbers, {network.units} units"


def _hubert(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.checkpoint import write
    from voicenym.nets.content.hubert_published import PLAIN, from_hubert, located, ours

    path = located(checkpoint)
    with temporary_directory() as scratch:
        config = {"kind": PLAIN, "card": _card(path)}
        write(Path(scratch), ours(pickles.state(path)), config)
        network = from_hubert(Path(scratch))  # fails on a mismatch before anything is written
        write(folder, read(Path(scratch))[1], config)
    return f"{network.config()['layers']} layers, {network.config()['width']} numbers"


def _wav2vec2(checkpoint: Path, folder: Path, options: Options) -> str:
    from safetensors.torch import save_file

    from voicenym.nets.content.content_encoders import save
    from voicenym.nets.content.hubert_published import located
    from voicenym.nets.content.wav2vec import Wav2Vec

    path = located(checkpoint)
    if path.suffix == ".json" or not (path.parent / CONFIG).is_file():
        raise VoicenymError(f"{checkpoint}: give its folder, with {CONFIG} beside the weights")
    with temporary_directory() as scratch:
        # transformers reads this copy, and never a pickle
        state = {name: value.clone() for name, value in pickles.state(path).items()}
        save_file(state, Path(scratch) / WEIGHTS, {"format": "pt"})
        for beside in (path.parent / name for name in (CONFIG, "preprocessor_config.json")):
            if beside.is_file():
                shutil.copyfile(beside, Path(scratch) / beside.name)
        network = Wav2Vec.from_published(scratch, options.get("layers"))
    save(network, folder, _card(path))
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
        pickles.state(checkpoint),
        config,
        checkpoint,
        int(options.get("content", 200)),
        int(options.get("speaker", 192)),
        str(options.get("pitch", "hertz")),
    )
    save(network, folder, _card(checkpoint))
    return f"frames of {network.conditions.size} numbers and {network.hop} samples"


def _whisper(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.words.whisper.ctranslate2_binary import BINARY
    from voicenym.nets.words.whisper.whisper_published import published, save_published

    place = checkpoint if checkpoint.is_dir() else checkpoint.parent
    found = published(place)
    binary = place / BINARY
    save_published(found, folder, _card(binary if binary.is_file() else place / WEIGHTS))
    size = found.network.sizes
    return f"{size.layers} layers of {size.width} numbers on either side, in half precision"


def _ctranslate2(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.words.whisper.ctranslate2_folder import copy

    return copy(checkpoint if checkpoint.is_dir() else checkpoint.parent, folder)


def _synthesiser(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.speech_synthesis.voice_files import copied, graph_file

    return copied(graph_file(checkpoint), folder)


def _speaker(kind: str) -> Callable[[Path, Path, Options], str]:
    def converted(checkpoint: Path, folder: Path, options: Options) -> str:
        from voicenym.nets.speakers.speaker_encoders import save
        from voicenym.nets.speakers.speechbrain_encoder import CHECKPOINT, published

        path = checkpoint / CHECKPOINT if checkpoint.is_dir() else checkpoint
        encoder = published(kind, pickles.state(path), path)
        save(encoder, folder, _card(path))
        return f"vectors of {encoder.size} numbers"

    return converted


def _dvector(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.speakers.dvector import DVector
    from voicenym.nets.speakers.speaker_encoders import save

    encoder = DVector.from_published(pickles.state(checkpoint), checkpoint)
    save(encoder, folder, _card(checkpoint))
    return f"vectors of {encoder.size} numbers"


def _deepspeech2(checkpoint: Path, folder: Path, options: Options) -> str:
    from voicenym.nets.words.ctc_networks.character_model import CharacterModel
    from voicenym.nets.words.ctc_networks.ctc import Alphabet
    from voicenym.nets.words.ctc_networks.deepspeech import LABELS, DeepSpeech2

    net = DeepSpeech2.from_published(pickles.state(checkpoint), str(checkpoint))
    if net.config.tokens != len(LABELS):
        raise VoicenymError(
            f"{checkpoint}: writes {net.config.tokens} tokens; give one of the {len(LABELS)} of "
            "English checkpoints"
        )
    model = CharacterModel("deepspeech2", net, Alphabet(LABELS[1:].lower()))
    model.save(folder, card=_card(checkpoint))
    return f"{net.config.layers} layers of {net.config.size} numbers"


def _card(path: Path) -> dict[str, Any]:
    """Provenance of the weights."""
    return {"converted from": path.name, SOURCE: sha256(path)}


KINDS: dict[str, tuple[Callable[[Path, Path, Options], str], tuple[str, ...]]] = {
    "hubert-soft": (_hubert_soft, ("layers",)),
    "hubert": (_hubert, ()),
    "wav2vec2": (_wav2vec2, ("layers",)),
    "whisper": (_whisper, ()),
    "ctranslate2": (_ctranslate2, ()),
    "kokoro": (_synthesiser, ()),
    "piper": (_synthesiser, ()),
    "hifigan": (_hifigan, ("config", "content", "speaker", "pitch")),
    "ecapa": (_speaker("ecapa"), ()),
    "xvector": (_speaker("xvector"), ()),
    "dvector": (_dvector, ()),
    "deepspeech2": (_deepspeech2, ()),
}
"""Kinds of conversion: function, and names of its options."""
