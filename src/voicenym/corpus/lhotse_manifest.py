"""lhotse manifests: cuts in, anonymized recordings and cuts of them out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.corpus.plan import Item
from voicenym.errors import CorpusError, DependencyError

SUFFIXES = (".jsonl", ".jsonl.gz", ".json", ".json.gz")
OUTPUT_NAME = "cuts.jsonl.gz"


@dataclass(frozen=True)
class LhotseManifest:
    """A manifest of cuts and what is to be made of it.

    Args:
        cuts: lhotse's cuts by the recording's id, each over a whole recording.
        items: one for each recording.
    """

    output: Path
    items: list[Item]
    cuts: dict[str, list[Any]]

    def finish(self, failed: set[str]) -> None:
        """Write ``cuts.jsonl.gz`` with the anonymized recordings."""
        from lhotse import CutSet, Recording

        done = []
        for item in self.items:
            if item.utterance in failed or not item.target.is_file():
                continue
            recording = Recording.from_file(item.target, recording_id=item.utterance)
            for cut in self.cuts[item.utterance]:
                cut.recording = recording
                done.append(cut.drop_features())
        self.output.mkdir(parents=True, exist_ok=True)
        CutSet.from_cuts(done).to_file(self.output / OUTPUT_NAME)


def is_manifest(path: Path) -> bool:
    """Whether a file is named like a lhotse manifest."""
    return path.is_file() and path.name.endswith(SUFFIXES)


def read_manifest(path: Path, output: Path) -> LhotseManifest:
    """Plan for a lhotse manifest of cuts.

    Args:
        path: cuts, as ``.jsonl`` or ``.jsonl.gz``; every supervision names its speaker.
        output: will hold ``audio/`` and ``cuts.jsonl.gz``.

    Raises:
        DependencyError: lhotse is not installed.
        CorpusError: not a manifest of cuts, a recording with two speakers or none, or audio that is
            not one file.
    """
    try:
        from lhotse import CutSet
        from lhotse.cut import MonoCut, MultiCut
    except ImportError:
        raise DependencyError(
            f"{path}: reading lhotse manifests needs lhotse: pip install 'voicenym[lhotse]'"
        ) from None
    try:
        cut_set = list(CutSet.from_file(path))
    except Exception as error:
        raise CorpusError(f"{path}: not a lhotse manifest of cuts ({error})") from None
    items: dict[str, Item] = {}
    cuts: dict[str, list[Any]] = {}
    for cut in cut_set:
        if not isinstance(cut, (MonoCut, MultiCut)) or cut.recording is None:
            raise CorpusError(f"{path}: {cut.id} has no recording of its own; save simple cuts")
        name = cut.recording.id
        sources = cut.recording.sources
        if len(sources) != 1 or sources[0].type != "file":
            raise CorpusError(f"{path}: {name} is not stored as one file, which is needed here")
        speakers = {s.speaker for s in cut.supervisions if s.speaker}
        if name in items:
            speakers.add(items[name].speaker)
        if len(speakers) != 1:
            raise CorpusError(
                f"{path}: {name} has {len(speakers)} speakers; a recording needs exactly one: cut "
                "it into one recording per speaker first"
            )
        source = Path(sources[0].source)
        target = output / "audio" / f"{name}{source.suffix}"
        items[name] = Item(source, target, speakers.pop(), name)
        cuts.setdefault(name, []).append(cut)
    if not items:
        raise CorpusError(f"{path}: no cuts in this manifest")
    return LhotseManifest(output, list(items.values()), cuts)
