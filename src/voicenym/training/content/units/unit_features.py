"""Features of speech for the discovery of units, by name or path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.errors import VoicenymError

if TYPE_CHECKING:
    from voicenym.nets.content.content_encoder import Content
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.training.run.machine import Machine

CEPSTRA = "cepstra"
WAV2VEC = "wav2vec2:"
BASE = "base"
NARROW = "narrow:"


def features_of(place: str, layer: int, machine: Machine) -> tuple[Content, dict[str, object]]:
    """A feature extractor, and its description: a network is identified by its weights, not its
    path.

    Args:
        place: ``cepstra``, ``base`` (the content encoder of the bundled resynthesis),
            ``narrow:FOLDER`` (of other parts of ``voicenym train resynthesis``), ``wav2vec2:PLACE``
            (XLS-R among others), or a HuBERT's.
        layer: of a network.
        machine: to run on.

    Raises:
        VoicenymError: unknown features.
    """
    from voicenym.nets.content.units import Cepstra, HubertLayer

    device = "cuda" if machine.cuda else "cpu"
    if place == CEPSTRA:
        return Cepstra().to(device), {"features": CEPSTRA}
    if place.startswith(WAV2VEC):
        from voicenym.nets.checkpoint import fingerprint
        from voicenym.nets.content.wav2vec import Wav2Vec

        network = Wav2Vec.from_published(place.removeprefix(WAV2VEC), layer)
        source = {
            "features": "wav2vec2",
            "layer": layer,
            "sha256": fingerprint(network.state_dict()),
        }
        return network.to(device), source
    if place == BASE or place.startswith(NARROW):
        return _narrow(place, device)
    hubert, digest = _hubert(place)
    source = {"features": "hubert", "layer": layer, "sha256": digest}
    try:
        hubert.hidden(hubert.norm.weight.new_zeros(1, 320), layer=layer)
    except ValueError as error:
        raise VoicenymError(f"{place}: {error}; give another --layer") from None
    return HubertLayer(hubert, layer).to(device), source


def features_behind(
    folder: Path,
    source: Mapping[str, Any],
    place: str | None,
    machine: Machine,
    by: str = "--features",
) -> Content:
    """Features of which units are clusters.

    Args:
        folder: of the units, for errors.
        source: description of the features in the units' folder.
        place: as for :func:`features_of`; not needed for cepstra.
        machine: to run on.
        by: options that give a place, for errors.

    Raises:
        VoicenymError: other features are given, or none.
    """
    if place is None and source.get("features") == CEPSTRA:
        place = CEPSTRA
    if place is None and source.get("features") == NARROW[:-1]:
        place = BASE  # others than the bundled are refused below
    if place is None:
        raise VoicenymError(f"{folder}: its units are of a network's layer; give that by {by}")
    network, found = features_of(place, int(source.get("layer", 0)), machine)
    if found != source:
        raise VoicenymError(
            f"{folder}: its units are of other features ({source}, not {found}); "
            "give those by --features"
        )
    return network


def _narrow(place: str, device: str) -> tuple[Content, dict[str, object]]:
    """Content encoder of a resynthesis system's parts, and its description."""
    from voicenym.nets.checkpoint import fingerprint
    from voicenym.resynthesis.bundled.base_content import NarrowContent
    from voicenym.resynthesis.bundled.model_parts import Parts
    from voicenym.systems.base import BUNDLED

    folder = BUNDLED if place == BASE else Path(place.removeprefix(NARROW))
    bottleneck = Parts.load(folder).content
    source: dict[str, object] = {
        "features": NARROW[:-1],
        "sha256": fingerprint(bottleneck.state_dict()),
    }
    return NarrowContent(bottleneck).to(device), source


def _hubert(place: str) -> tuple[HubertSoft, str]:
    """A HuBERT at a place, and the SHA-256 of its weights; of converted ones that of the original
    file.
    """
    from voicenym.nets.checkpoint import SOURCE, WEIGHTS, configuration, is_ours
    from voicenym.nets.content.content_encoders import load
    from voicenym.nets.content.hubert import HubertSoft
    from voicenym.nets.content.hubert_published import PLAIN, from_hubert, located
    from voicenym.nets.hub import place_of, sha256

    path = Path(place_of(place))
    if is_ours(path) and configuration(path).get("kind") == PLAIN:
        card = configuration(path).get("card", {})
        return from_hubert(path), str(card.get(SOURCE) or sha256(path / WEIGHTS))
    if is_ours(path):
        network = load(path)
        if not isinstance(network, HubertSoft):
            raise VoicenymError(f"{place}: a {network.kind}; give a HuBERT")
    else:
        network = from_hubert(path)
    return network, sha256(located(path))
