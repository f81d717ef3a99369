"""Rule that names the speaker of a recording in a folder or on the command line.

1. The first folder below the given root names the speaker, at any depth of the recording:
   ``anna`` speaks in ``anna/session1/a.wav``, and LibriSpeech's ``speaker/chapter/utterance``
   follows the same rule.
2. A recording in no such folder, directly in the root or on the command line, is a speaker of its
   own, named by the SHA-256 of the file: the same file has the same voice under the same key
   anywhere, and two different files never share a voice.
3. If the folders can be read in two ways, :func:`by_folders` raises an error.

Rule 1 of earlier versions used the folder that holds the file; ``parent`` selects it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Literal

from voicenym.errors import CorpusError
from voicenym.pseudonym import Key

RULE = 2
"""Version of the rule above; the log of a run records it."""
OWN = "file/sha256:"
"""Prefix of the name of a speaker known by one file; no folder's name can contain a ``/``."""
Level = int | Literal["parent"] | None
CURE = "Add the option that is meant, or give --speaker NAME if all is one person"
MOST_LEVELS = 4
"""Levels of folders that a message lists."""
_READ = 1 << 20

# Names of folders for parts of a corpus, kinds of files, places or times, not for people.
_PARTS = (
    r"train(ing)?|dev(el|elopment)?|test(ing|s)?|eval(uation)?|val(id(ation|ated)?)?|invalidated"
    r"|enrol(l|ls|ment)?|trials?"
)
_KINDS = (
    r"wavs?|waves?|wav\d+\w*|flacs?|mp3s?|ogg|opus|m4a|audios?|sounds?|speech|voices?|clips?|media"
    r"|recordings?|rec|records?|data|corpus|corpora|dataset|raw|originals?|samples?|files?"
    r"|utterances?|segments?|interviews?|calls?|meetings?|speakers|subjects|participants|people"
    r"|male|female|men|women|[mf]|clean|other|noisy|new|old|inbox|downloads?|unknown|anonymous|misc"
)
_NUMBERED = (
    r"sessions?|ses|days?|weeks?|months?|years?|chapters?|parts?|sets?|splits?|groups?|teams?"
    r"|batch(es)?|dis[ck]s?|cds?|dvds?|dr|channels?|ch|mics?|takes?|tapes?|rooms?|sites?|visits?"
)
_DATE = r"(19|20)\d\d[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])"
_NOBODY = re.compile(
    rf"(({_PARTS})([-_. ]?\d+|[-_. ].*)?|({_KINDS})|({_NUMBERED})[-_. ]?\d*|{_DATE})", re.IGNORECASE
)


def level_of(text: str | None) -> Level:
    """Value of ``--speaker-level``: a number from 0, or ``parent``.

    Raises:
        CorpusError: something else.
    """
    if text is None or text == "parent":
        return text  # type: ignore[return-value]
    if not re.fullmatch(r"[0-9]{1,4}", text):
        raise CorpusError(
            f"--speaker-level is a number (1 is the first folder below the root, 0 makes each file "
            f"a person of its own) or parent, not {text!r}"
        )
    return int(text)


def own(path: Path) -> str:
    """Name of a speaker known by this file alone: the same for the same bytes, anywhere.

    A file that cannot be read gets a name from its path; its anonymization fails later.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return f"file/unread:{path.absolute()}"
        with path.open("rb") as file:
            digest = hashlib.sha256()
            while data := file.read(_READ):
                digest.update(data)
    except OSError:
        return f"file/unread:{path.absolute()}"
    return OWN + digest.hexdigest()


def own_of(data: bytes) -> str:
    """The same as :func:`own` for a recording in memory."""
    return OWN + hashlib.sha256(data).hexdigest()


def is_own(speaker: str) -> bool:
    """Whether a name is that of a speaker known by one file."""
    return speaker.startswith("file/")


def by_parent(path: Path) -> str:
    """Rule 1: the name of the folder that holds the file."""
    return Path(os.path.realpath(path)).parent.name


def by_folders(
    root: Path,
    inner: Sequence[PurePath],
    level: int | None = None,
    *,
    alone: bool = True,
    cure: str = CURE,
) -> list[str | None]:
    """Folder that names the speaker of each recording; None for a speaker of its own.

    Args:
        root: given by the user, for messages.
        inner: paths of the recordings below it.
        level: number of the folder that names the speaker, counted from the root: 1 is the first
            below it, 0 none; a recording in fewer folders is a speaker of its own. None applies the
            rule.
        alone: whether each file may be a speaker of its own if no folder names one.
        cure: advice for ambiguous folders, for the message.

    Raises:
        CorpusError: the folders are ambiguous, or no recording lies so deep.
    """
    if level is None:
        why = _two_readings(inner)
        deep = any(len(path.parts) > 2 for path in inner)
        if why and (alone or deep or _nobody(inner)):
            raise CorpusError(_question(root, inner, why, alone, cure))
        level = 1
    elif level and all(len(path.parts) <= level for path in inner):
        deepest = max((len(path.parts) - 1 for path in inner), default=0)
        raise CorpusError(
            f"{root}: --speaker-level {level} needs recordings that lie {level} folders deep; the "
            f"deepest lies {deepest} deep: give a smaller number"
        )
    return [_at(path, level) for path in inner]


def _at(path: PurePath, level: int) -> str | None:
    return path.parts[level - 1] if 0 < level < len(path.parts) else None


def _two_readings(inner: Sequence[PurePath]) -> str | None:
    """Reason why the folders do not determine the speakers; None if they do."""
    depths = {len(path.parts) - 1 for path in inner}
    if depths <= {0}:
        return None
    if 0 in depths:
        return "recordings lie both directly in it and in folders"
    tops = sorted({path.parts[0] for path in inner})
    if nobody := _nobody(inner):
        return f"the folder {nobody!r} does not sound like a person"
    if 1 in depths and len(tops) > 1:
        return None  # a recording directly in a first folder: there is no second one to name people
    below: dict[str, set[str]] = {}
    for path in inner:
        if len(path.parts) > 2:
            below.setdefault(path.parts[1], set()).add(path.parts[0])
    if sum(map(len, below.values())) <= len(tops) and 1 not in depths:
        return None  # one folder in each: both readings part the recordings alike
    if all(_begins(path.name, path.parts[0]) for path in inner):
        return None  # as LibriSpeech and VCTK do
    if len(tops) == 1:
        return f"all recordings lie in the one folder {tops[0]!r}" if below else None
    if all(_begins(path.name, path.parts[1]) for path in inner):
        return "file names begin with the name of the second folder"
    if all(len(folders) > 1 or _NOBODY.fullmatch(name) for name, folders in below.items()):
        return None  # anna/session1 and bob/session1
    return "both the first and the second folders could be people"


def _nobody(inner: Sequence[PurePath]) -> str | None:
    """First of the first folders whose name is not a person's; None if there is none."""
    tops = sorted({path.parts[0] for path in inner if len(path.parts) > 1})
    return next((top for top in tops if _NOBODY.fullmatch(top)), None)


def _begins(name: str, folder: str) -> bool:
    """Whether a name begins with a word: ``p225_001.wav`` with ``p225``, but ``anna.wav`` not with
    ``a``.
    """
    return name.startswith(folder) and not name[len(folder)].isalnum()


def _question(root: Path, inner: Sequence[PurePath], why: str, alone: bool, cure: str) -> str:
    deepest = max(inner, key=lambda path: len(path.parts))
    most = len(deepest.parts) - 1
    levels = [*range(1, min(most, MOST_LEVELS) + 1)]
    if alone and (most == 1 or any(len(path.parts) == 1 for path in inner)):
        levels.append(0)
    readings = []
    for level in levels:
        found = [_at(path, level) for path in inner]
        people = len({name for name in found if name is not None}) + found.count(None)
        name = _at(deepest, level)
        who = "a person of its own" if name is None else f"by {name!r}"
        readings.append(
            f"with --speaker-level {level}, {deepest.as_posix()!r} is {who}, and {people} "
            f"{'person speaks' if people == 1 else 'people speak'} in all"
        )
    if len(readings) == 1:
        claim = "its folders may name no speakers"
    else:
        claim = f"its folders name speakers in {'two' if len(readings) == 2 else 'several'} ways"
    return f"{root}: {claim}, for {why}: {'; '.join(readings)}. {cure}"


def voice_check(key: Key, speaker: str, output: str) -> str:
    """Tag of a speaker in a log, which only the key's holder can compute, and different in every
    line.

    Args:
        key: of the run.
        speaker: of the voice.
        output: as the log names it.
    """
    return key.tag("speaker check", f"{speaker}\0{output}")[:16]


def agree(
    key: Key,
    people: Mapping[str, tuple[str, str]],
    lines: Mapping[str, Mapping[str, Any]],
    there: Iterable[str],
) -> None:
    """Refuses to give a speaker another voice than an earlier run under the same key.

    Args:
        key: of this run.
        people: by output, the speaker, and the speaker by rule 1 if it differs or is empty.
        lines: the log's lines, by output.
        there: existing outputs of the log.

    Raises:
        CorpusError: an output was made for another speaker, or by rule 1, and this run assigns
            another speaker.
    """
    check = key.tag("key check")[:16]
    changed = next((o for o, (speaker, old) in people.items() if old not in ("", speaker)), None)
    for output in there:
        line = lines[output]
        if line.get("key_check") != check or "sha256" not in line:
            continue
        if "speaker_check" not in line and changed is not None:
            raise CorpusError(
                f"{changed}: an earlier version began this folder, and took the folder that a file "
                "lies in for the speaker; voices of one person would differ: go on with "
                "--speaker-level parent, or start over in a new folder"
            )
        recorded, now = line.get("speaker_check"), people.get(output)
        if (
            recorded is not None
            and now is not None
            and recorded != voice_check(key, now[0], output)
        ):
            raise CorpusError(
                f"{output}: was made for another speaker than this run would; resume with the same "
                "--speaker, --speaker-level and folder, or start over with --overwrite or in a new "
                "folder"
            )
