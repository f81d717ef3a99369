"""Networks of identity methods that come with the package, by name."""

from __future__ import annotations

from pathlib import Path

from voicenym.nets.checkpoint import configuration

BUNDLED = Path(__file__).parent / "bundled"
"""Their folders; cards lie beside the weights."""


def bundled(kind: str) -> list[str]:
    """Names of the bundled networks of a kind, sorted."""
    places = sorted(place for place in BUNDLED.iterdir() if place.is_dir())
    return [place.name for place in places if configuration(place).get("kind") == kind]
