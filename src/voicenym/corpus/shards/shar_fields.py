"""Files of a lhotse Shar by their names: tables of cuts, and fields of the same number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from voicenym.corpus.readers.id_checks import printable
from voicenym.corpus.shards.stores.object_store import Listed

CUTS = re.compile(r"((?:.*/)?)cuts(\.\d+)?\.jsonl(\.gz)?")
"""Name of a table of cuts of a Shar."""
FIELD = re.compile(r"((?:.*/)?)([^/.]+)(\.\d+)?\.(tar|tar\.gz|jsonl|jsonl\.gz)")
"""Name of a field of a Shar: its folder, the field, its number."""
SOUND = "recording"
"""Field of the sound."""


def tables_of(listed: Sequence[Listed]) -> dict[tuple[str, str], Listed]:
    """Tables of cuts, by folder and number."""
    return {
        (found[1], found[2] or ""): one for one in listed if (found := CUTS.fullmatch(one.name))
    }


def sounds_of(listed: Sequence[Listed]) -> dict[tuple[str, str], Listed]:
    """Tars of sound, by folder and number; those of folders without a table of cuts are no Shar."""
    folders = {folder for folder, _ in tables_of(listed)}
    fields = ((one, FIELD.fullmatch(one.name)) for one in listed)
    return {
        (found[1], found[3] or ""): one
        for one, found in fields
        if found is not None
        and found[2] == SOUND
        and found[4].startswith("tar")
        and found[1] in folders
    }


def halves(listed: Sequence[Listed]) -> list[tuple[str, str]]:
    """Places of a Shar's tars without their cuts, and of its cuts without their tar, with reasons.

    Such a tar would be taken for one of another kind, whose speakers are others. A Shar without any
    sound has none.
    """
    tables, sounds = tables_of(listed), sounds_of(listed)
    folders = {folder for folder, _ in sounds}
    alone = [
        *((sounds[place], place, "cuts", ".jsonl.gz") for place in sounds.keys() - tables.keys()),
        *((tables[place], place, SOUND, ".tar") for place in tables.keys() - sounds.keys()),
    ]
    return [
        (
            printable(one.location),
            f"{printable(one.location)}: lacks the {field}{number}{suffix} that belongs to it; get "
            "a whole copy of the Shar",
        )
        for one, (folder, number), field, suffix in sorted(alone, key=lambda one: one[0].name)
        if folder in folders
    ]
