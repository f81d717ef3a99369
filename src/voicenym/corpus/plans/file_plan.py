"""The plan of a batch: source, target and speaker of each recording in files and folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Protocol

from voicenym.audio.container_files.containers import EXTENSIONS as WRITTEN
from voicenym.audio.container_files.containers import container_of, output_suffix
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.readers.folder_walk import EXTENSIONS, walk
from voicenym.corpus.readers.name_encoding import check_encoding
from voicenym.corpus.run_records.run_log import LOG_NAME, lines_before
from voicenym.errors import AudioError, CorpusError, check_path, counted
from voicenym.pseudonym import Key
from voicenym.special_files import special_kind


class Openable(Protocol):
    """A recording within another file, or the output of a command; ``str`` names it in messages.

    Attributes:
        path: of the file that contains it, if any.
        stretch: start and end in seconds; an end of None is the end of the file.
        part: identifies the part of that file, or the command; equal for equal recordings.
    """

    @property
    def path(self) -> Path | None: ...

    @property
    def stretch(self) -> tuple[float, float | None]: ...

    @property
    def part(self) -> str: ...

    def open(self, lenient: bool = False) -> BinaryIO:
        """Recording as a file in memory; ``lenient`` as in ``voicenym.audio.open_reader``."""


@dataclass(frozen=True)
class Item:
    """One recording of a batch.

    Args:
        source: path of the original, or an object that opens it if it is not a file of its own.
        target: path of the anonymized recording.
        speaker: of the recording.
        utterance: its name within the corpus.
        former: its speaker by rule 1 of :mod:`voicenym.corpus.readers.speaker_rule`, which earlier
            runs used and may be continued with. Empty if both rules agree.
    """

    source: Path | Openable
    target: Path
    speaker: str
    utterance: str
    former: str = ""


def beside(path: Path) -> Path:
    """``interview.m4a`` -> ``interview.anon.m4a``; ``call.amr``, which cannot be written, ->
    ``.anon.wav``.
    """
    return path.with_name(f"{path.stem}.anon{output_suffix(path.suffix)}")


def written_as(path: Path) -> Path:
    """Name with the extension of a format that can be written: ``a/call.amr`` -> ``a/call.wav``."""
    suffix = output_suffix(path.suffix)
    return path if suffix == path.suffix else path.with_suffix(suffix)


def plan(
    inputs: Sequence[Path],
    output: Path | None,
    speaker: str | None = None,
    level: speaker_rule.Level = None,
) -> list[Item]:
    """Items for files and folder trees.

    :mod:`voicenym.corpus.readers.speaker_rule` names the speakers.

    The output of a recording in a tree has the same path below ``output``. The output of a file is
    ``output`` (a file name, or a folder that exists), or lies beside the file.

    Args:
        inputs: files and folders.
        output: file or folder; needed for folders.
        speaker: of all of them.
        level: number of the folder below a root that names the speaker; or ``parent``, the folder
            that holds the file.

    Raises:
        CorpusError: missing inputs, no recordings, no output for a folder, an output of several
            that is a file or named as one, ambiguous folders, or names in another encoding than
            the locale's.
    """
    if speaker is not None and level is not None:
        raise CorpusError("--speaker and --speaker-level both name the speaker; leave one out")
    if speaker == "":
        raise CorpusError("--speaker: the name is empty; give one, or leave it out")
    for path in (*inputs, *([] if output is None else [output])):
        check_path(path)
    items: list[Item] = []
    several = len(inputs) > 1
    if output is not None and (several or any(source.is_dir() for source in inputs)):
        _check_folder(output)
    for source in inputs:
        if source.is_dir():
            items.extend(_tree(source, output, speaker, level))
        elif not os.path.lexists(source):
            raise CorpusError(f"{source}: no such file or folder; check the name")
        elif kind := special_kind(source):
            raise CorpusError(
                f"{source}: is {kind}; use - for standard input: voicenym anonymize - < {source}"
            )
        else:
            items.append(_single(source, output, speaker, level, several))
    check_encoding({item.speaker for item in items})
    return items


def _check_folder(output: Path) -> None:
    """Refuses an output of several recordings that is a file, or that is named as one."""
    if output.is_dir():
        return
    if os.path.lexists(output):
        raise CorpusError(f"{output}: is a file, but there are several recordings; give a folder")
    if output.suffix.lower() in WRITTEN:
        raise CorpusError(
            f"{output}: several recordings, but -o names one file; give a folder. If a folder is "
            f"to have this name, make it first: mkdir {output}"
        )


def _file(output: Path) -> Path:
    """Output that is to be a file.

    Raises:
        AudioError: its extension is none of a format that is written.
    """
    try:
        container_of(output, str(output))
    except AudioError as error:
        raise AudioError(f"{error}. If a folder is meant, make it first: mkdir {output}") from None
    return output


def _single(
    source: Path, output: Path | None, speaker: str | None, level: speaker_rule.Level, several: bool
) -> Item:
    if output is None:
        target = beside(source)
    elif several or output.is_dir():
        target = output / written_as(source).name
    else:
        target = _file(output)
    former = "" if speaker else speaker_rule.by_parent(source)
    if speaker is None:
        speaker = former if level == "parent" else speaker_rule.own(source)
    return Item(source, target, speaker, source.stem, former)


def _tree(
    root: Path, output: Path | None, speaker: str | None, level: speaker_rule.Level
) -> list[Item]:
    if output is None:
        raise CorpusError(f"{root}: is a folder; say where the anonymized tree goes with -o FOLDER")
    found = walk(root, output).recordings
    if not found:
        raise CorpusError(
            f"{root}: no recordings in this folder (looked for {', '.join(sorted(EXTENSIONS))})"
        )
    inner = [path.relative_to(root) for path in found]
    return [
        Item(
            source=path,
            target=output / written_as(place),
            speaker=who,
            utterance=place.with_suffix("").as_posix(),
            former="" if speaker else speaker_rule.by_parent(path),
        )
        for path, place, who in zip(
            found, inner, _people(root, found, inner, speaker, level), strict=True
        )
    ]


def _people(
    root: Path, found: list[Path], inner: list[Path], speaker: str | None, level: speaker_rule.Level
) -> list[str]:
    if speaker is not None:
        return [speaker] * len(found)
    if level == "parent":
        return [speaker_rule.by_parent(path) for path in found]
    folders = speaker_rule.by_folders(root, inner, level)
    return [
        speaker_rule.own(path) if folder is None else folder
        for path, folder in zip(found, folders, strict=True)
    ]


def renamed(items: Iterable[Item], key: Key, output: Path) -> list[Item]:
    """Items under opaque names: ``<tag of the speaker>/<tag of the utterance>.ext``."""
    names = Names(key)
    return [
        replace(
            item,
            target=output
            / names.speaker(item.speaker)
            / (names.utterance(item.speaker, item.utterance) + item.target.suffix),
        )
        for item in items
    ]


def check_distinct(items: Sequence[Item], *, opaque: bool = False) -> None:
    """Checks that no two inputs have one output, and that no output is an input.

    Args:
        items: of the batch.
        opaque: whether errors must not link outputs to inputs.

    Raises:
        CorpusError: two paths are equal; the message names both.
    """
    taken: dict[str, Path | Openable] = {}
    originals = (i.source if isinstance(i.source, Path) else i.source.path for i in items)
    # not Path.resolve, which fails on links that lead in a circle
    sources = {os.path.realpath(path): path for path in originals if path is not None}
    _check_once(items, opaque)
    for item in items:
        target = os.path.realpath(item.target)
        if target in taken:
            where = "one file" if opaque else item.target
            cure = "or give them separately" if opaque else "give them separately, or use --rename"
            raise CorpusError(
                f"{taken[target]} and {item.source}: both would be written to {where}; "
                f"rename one, {cure}"
            )
        if target in sources:
            raise CorpusError(
                f"{item.target}: the output would replace the input {sources[target]}; choose "
                "another folder with -o"
            )
        taken[target] = item.source


def check_output_folder(
    inputs: Iterable[Path],
    output: Path | None,
    targets: Iterable[Path],
    is_other: Callable[[str], object] = lambda name: None,
) -> None:
    """Checks that no original is passed over because it lies in the folder of the outputs.

    A folder of outputs below an input is not searched for originals, and later runs take all in it
    for outputs.

    Args:
        inputs: files and folders of the run.
        output: folder of the outputs, if there is one.
        targets: outputs of the run.
        is_other: whether a file of this name may hold originals and is no recording.

    Raises:
        CorpusError: the folder lies in an input, and holds recordings that no run wrote there.
    """
    if output is None or not output.is_dir():
        return
    place = os.path.realpath(output)
    roots = (root for root in inputs if root.is_dir())
    root = next(
        (root for root in roots if Path(os.path.realpath(root)) in Path(place).parents), None
    )
    if root is None:
        return
    known = {os.path.join(place, name) for name in lines_before(output / LOG_NAME)}
    known |= {os.path.realpath(target) for target in targets}
    found = walk(output)
    others = [part.path for part in found.skipped if is_other(part.path.name)]
    candidates = [*found.recordings, *others]
    strange = [path for path in candidates if os.path.realpath(path) not in known]
    if strange:
        more = f" and {counted(len(strange) - 1, 'other')}" if len(strange) > 1 else ""
        raise CorpusError(
            f"{output}: lies in {root} and holds recordings that no run wrote there "
            f"({strange[0]}{more}); they would be passed over and stand among the outputs: "
            "choose a new folder with -o"
        )


def _check_once(items: Sequence[Item], opaque: bool) -> None:
    """Checks that no recording is in the batch twice: a folder with one of its folders would give
    it two speakers, and whoever has both outputs would know that they are of one person.

    Raises:
        CorpusError: a recording that is given twice.
    """
    outputs: dict[str, Path] = {}
    for item in items:
        if not isinstance(item.source, Path):
            continue
        path = os.path.abspath(item.source)
        if path in outputs:
            two = not opaque and outputs[path] != item.target
            where = f", for {outputs[path]} and for {item.target}" if two else ""
            raise CorpusError(f"{item.source}: is given twice{where}; give it once")
        outputs[path] = item.target
