"""Plan of a Kaldi data folder's outputs, and the tables of a valid output folder.

Each utterance (:mod:`voicenym.corpus.readers.kaldi_utterances`) gets the voice of its own speaker;
no original speech is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from voicenym.corpus.drawn_names import Names
from voicenym.corpus.plans.earlier_tables import EarlierHere, EarlierRuns
from voicenym.corpus.plans.file_plan import Item
from voicenym.corpus.plans.output_target import check_inside
from voicenym.corpus.readers.id_checks import (
    check_id,
    check_source,
    printable,
)
from voicenym.corpus.readers.kaldi_tables import by_bytes, table, write
from voicenym.corpus.readers.kaldi_utterances import Cut, allowed_command, read_utterances
from voicenym.errors import CorpusError

LABELS = ("spk2gender", "utt2lang", "utt2dur", "reco2dur")
"""Tables of one word a line about utterances or speakers, which are always copied.

Other tables are copied only by name: ``text`` and other free text may name people, and features
were computed from the original voices.
"""
WRITTEN = ("wav.scp", "utt2spk", "spk2utt")
FOLDER = "wav"
"""Folder of the recordings in an output folder."""


@dataclass(frozen=True)
class KaldiFolder:
    """A data folder and the plan of its outputs.

    Args:
        source, output: folders.
        items: one for each utterance.
        speakers: in the new tables, by their names in the old ones.
        utterances: likewise.
        tables: to write besides those of :data:`WRITTEN`, by name, under the new names.
    """

    source: Path
    output: Path
    items: list[Item]
    speakers: dict[str, str]
    utterances: dict[str, str]
    tables: dict[str, dict[str, str]]

    def check_tables(self, earlier: EarlierRuns | None = None) -> None:
        """Refuses to replace tables that earlier runs into the output folder did not write.

        Args:
            earlier: those runs; by default they are looked for in the output folder.

        Raises:
            CorpusError: a table has a row of something else than an output in the log.
        """
        earlier = earlier or EarlierHere(self.output, FOLDER)
        known = earlier.outputs()
        found = self._earlier_tables(earlier, strict=True)
        people = set(found.get("utt2spk", {}).values())
        for name, rows in found.items():
            names = {*rows}
            if name == "spk2utt":
                names = {utterance for row in rows.values() for utterance in row.split()}
            strange = names - (people if _of_speakers(name) else known.keys())
            if strange:
                raise earlier.taken(name, min(strange, key=by_bytes))

    def finish(self, failed: set[str]) -> list[Path]:
        """Writes the tables of the utterances that have outputs; returns their paths.

        Rows of earlier runs stay if the log has their outputs and this run did not plan them.
        """
        there = [i for i in self.items if i.utterance not in failed and i.target.is_file()]
        places = {item.utterance: str(item.target) for item in there}
        found = self.rows_with_earlier(places, EarlierHere(self.output, FOLDER))
        for name, rows in found.items():
            write(self.output / name, rows)
        return [self.output / name for name in found]

    def rows_with_earlier(
        self, places: Mapping[str, str], earlier: EarlierRuns
    ) -> dict[str, dict[str, str]]:
        """Rows of the new tables, those of earlier runs among them.

        Args:
            places: as of :meth:`rows`.
            earlier: runs into the output folder.
        """
        found = self.rows(places)
        before = self._earlier_tables(earlier, strict=False)
        ours, known = {*self.utterances.values()}, earlier.outputs()
        speakers = {
            name: speaker
            for name, speaker in before.get("utt2spk", {}).items()
            if name not in ours and name in known and earlier.is_there(known[name])
        }
        found["wav.scp"] |= {name: known[name] for name in speakers}
        found["utt2spk"] |= speakers
        found["spk2utt"] = _by_speaker(found["utt2spk"])
        people = {*speakers.values()}
        for name in self.tables:
            kept = people if _of_speakers(name) else speakers
            rows = {row: v for row, v in before.get(name, {}).items() if row in kept}
            found[name] = rows | found[name]
        return found

    def _earlier_tables(self, earlier: EarlierRuns, strict: bool) -> dict[str, dict[str, str]]:
        """Tables that this run would replace, by name.

        Args:
            earlier: runs into the output folder.
            strict: refuse one that cannot be read, instead of leaving it out.
        """
        found = {}
        for name in (*WRITTEN, *self.tables):
            try:
                if (path := earlier.read(name)) is not None:
                    found[name] = table(path)
            except CorpusError:
                if strict:
                    raise earlier.taken(name, None) from None
        return found

    def rows(self, places: Mapping[str, str]) -> dict[str, dict[str, str]]:
        """Rows of the new tables, by the name of the table.

        Args:
            places: of the outputs that are there, by utterance.
        """
        there = [item for item in self.items if item.utterance in places]
        wavs = {self.utterances[i.utterance]: places[i.utterance] for i in there}
        utt2spk = {self.utterances[i.utterance]: self.speakers[i.speaker] for i in there}
        spk2utt = _by_speaker(utt2spk)
        found = {"wav.scp": wavs, "utt2spk": utt2spk, "spk2utt": spk2utt}
        for name, rows in self.tables.items():
            kept = spk2utt if _of_speakers(name) else utt2spk
            found[name] = {k: v for k, v in rows.items() if k in kept}
        return found


def _by_speaker(utt2spk: Mapping[str, str]) -> dict[str, str]:
    """Rows of ``spk2utt``."""
    found: dict[str, list[str]] = {}
    for utterance in sorted(utt2spk, key=by_bytes):
        found.setdefault(utt2spk[utterance], []).append(utterance)
    return {speaker: " ".join(utterances) for speaker, utterances in found.items()}


def _of_speakers(table_name: str) -> bool:
    """Whether the rows of a table that is copied are of speakers, and not of utterances."""
    return table_name.startswith("spk") and table_name not in WRITTEN


def read_kaldi(
    source: Path,
    output: Path,
    *,
    allow_pipes: bool = False,
    keep: Sequence[str] = (),
    names: Names | None = None,
) -> KaldiFolder:
    """Plan for a Kaldi data folder.

    Args:
        source: holds ``wav.scp``, ``utt2spk`` and perhaps ``segments``.
        output: will hold ``wav/UTTERANCE.wav`` and new tables.
        allow_pipes: run commands in ``wav.scp`` (``sph2pipe ... |``) with the user's rights.
        keep: names of further tables to copy besides :data:`LABELS`, such as ``text``.
        names: draws new names for speakers and utterances; None keeps the old ones.

    Raises:
        CorpusError: tables are missing or inconsistent, or an output would lie outside ``output``.
    """
    if output.resolve() == source.resolve():
        raise CorpusError(
            f"{output}: is the data folder itself, whose tables would be replaced; choose another "
            "folder with -o"
        )
    items, speakers, utterances = [], {}, {}
    for utterance in read_utterances(source):
        name = check_id(f"{source}: utterance", utterance.name)
        if utterance.piped:
            allowed_command(source, utterance, allow_pipes)
        else:
            check_source(f"{source}/wav.scp", utterance.entry)
        whole = not utterance.piped and utterance.start == 0.0 and utterance.end is None
        where = Path(utterance.entry) if whole else Cut(utterance)
        if names is None:
            speakers[utterance.speaker], utterances[name] = utterance.speaker, name
        else:
            speakers[utterance.speaker] = names.speaker(utterance.speaker)
            # Kaldi requires utterances in the order of their speakers
            drawn = names.utterance(utterance.speaker, name)
            utterances[name] = f"{speakers[utterance.speaker]}-{drawn}"
        target = output / FOLDER / f"{utterances[name]}.wav"
        items.append(Item(where, target, utterance.speaker, name))
    check_inside(items, output)
    tables = {
        name: _renamed(source / name, speakers if _of_speakers(name) else utterances)
        for name in _travelling(source, keep)
    }
    _check_left_behind(source, output, {*WRITTEN, *tables})
    return KaldiFolder(source, output, items, speakers, utterances, tables)


def _travelling(source: Path, keep: Sequence[str]) -> list[str]:
    """Tables to copy.

    Raises:
        CorpusError: a named table is missing or cannot be copied, or labels are free text.
    """
    for name in keep:
        if name in WRITTEN or name == "segments":
            raise CorpusError(f"--keep {name}: is written anew in any case; leave it out")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_]*", name):
            raise CorpusError(
                f"--keep {printable(name)}: is no table of utterances or speakers; what was "
                "computed from the original voices does not travel"
            )
        if not (source / name).is_file():
            raise CorpusError(f"--keep {name}: there is no {source}/{name}; leave it out")
    found = [name for name in LABELS if (source / name).is_file() and name not in keep]
    if (source / "segments").is_file() and "reco2dur" in found:
        found.remove("reco2dur")  # the new recordings are the utterances
    for name in found:
        for row, value in table(source / name).items():
            if not re.fullmatch(r"\S+", value):
                raise CorpusError(
                    f"{source}/{name}: {printable(row)} has more than one word, which may be free "
                    f"text; mend it, or add --keep {name} to publish the table as it is"
                )
    return [*found, *dict.fromkeys(keep)]


def _check_left_behind(source: Path, output: Path, written: Set[str]) -> None:
    """Refuses an output folder with a table of an earlier run that this run would leave there.

    Transcripts of ``--keep text`` would else be published by whoever leaves out the option later.

    Args:
        source, output: the data folders.
        written: names of the tables that this run writes.

    Raises:
        CorpusError: a table is there.
    """
    for path in sorted(source.iterdir()):
        left = output / path.name
        if path.name not in written and path.is_file() and left.is_file():
            raise CorpusError(
                f"{left}: is there from an earlier run, and this one would leave it as it is; add "
                f"--keep {path.name}, delete that file, or choose a new folder with -o"
            )


def _renamed(path: Path, names: Mapping[str, str]) -> dict[str, str]:
    return {names[row]: value for row, value in table(path).items() if row in names}
