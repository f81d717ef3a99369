"""A study in files: pages of each listener, clips under random names, and what they are.

``study.json`` holds what the server needs and nothing that tells a system; ``secret/key.json``
holds what each clip and item is, and the server never opens it; ``secret/tokens.json`` the tokens
of the links; ``stimuli`` the clips; ``answers.sqlite`` the answers.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from voicenym.audio.atomic import temporary_folder, write_failed
from voicenym.errors import VoicenymError
from voicenym.private import private_folder, write_private

FORMAT = 1
STUDY, KEY, TOKENS = "study.json", "secret/key.json", "secret/tokens.json"
STIMULI, ANSWERS = "stimuli", "answers.sqlite"
CONSENT, HEADPHONES, COMPARE, INTRO, ITEM = "consent", "headphones", "compare", "intro", "item"
"""Kinds of pages."""
RATING, GOLD, TRAP, TRAINING = "rating", "gold", "trap", "training"
"""Roles of items. Training is not analysed; gold and trapping items judge the listener."""


@dataclass(frozen=True)
class Page:
    """A page of a listener's session.

    Args:
        name: unique in the session; the item's token where it has an item.
        kind: :data:`CONSENT`, :data:`HEADPHONES`, :data:`COMPARE`, :data:`INTRO` or :data:`ITEM`.
        test: name of the test; empty for consent and checks.
        clips: tokens in the order of presentation.
        training: whether listeners are told that the page is for practice.
        expected: right answer of a check; never sent to a listener.
    """

    name: str
    kind: str
    test: str = ""
    clips: tuple[str, ...] = ()
    training: bool = False
    expected: str = ""


@dataclass(frozen=True)
class ItemKey:
    """What an item is.

    Args:
        test: name of the test.
        role: :data:`RATING`, :data:`GOLD`, :data:`TRAP` or :data:`TRAINING`.
        system: that made the rated clip; ``original`` for originals.
        utterance, speaker: of the rated clip.
        kind: ``same`` or ``different`` speaker in a pair; else empty.
        other: the other speaker of a pair of different ones.
        expected: answers by question that gold and trapping items ask for, as text; a rating as
            ``LOW-HIGH``; a right choice of an ABX or line-up item too.
        text: words that are said, where they are known.
    """

    test: str
    role: str
    system: str
    utterance: str
    speaker: str
    kind: str = ""
    other: str = ""
    expected: dict[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class ClipKey:
    """What a clip is.

    Args:
        system: that made it; ``original``, ``anchor35``, ``anchor70``, ``reference``, or a check's.
        utterance, speaker: of the recording.
        seconds: duration.
    """

    system: str
    utterance: str
    speaker: str
    seconds: float


@dataclass(frozen=True)
class Key:
    """What items and clips are: the file that unblinds a study.

    Args:
        seed: of the design.
        systems: in the order of the design.
        items, clips: by token.
        settings: of the design, for the report.
    """

    seed: int
    systems: tuple[str, ...]
    items: Mapping[str, ItemKey]
    clips: Mapping[str, ClipKey]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """What the server needs.

    Args:
        title: for listeners.
        consent: text that listeners agree to; paragraphs separated by empty lines.
        sessions: pages by listener (``L001``).
        whole: whether every clip must be played to its end before an answer.
        need_headphones: whether a listener who fails the headphone check twice is sent home.
    """

    title: str
    consent: str
    sessions: Mapping[str, tuple[Page, ...]]
    whole: bool = True
    need_headphones: bool = False


def check_new(folder: Path) -> None:
    """Refuses a folder that holds something.

    Raises:
        VoicenymError: it does, or it is a file.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise VoicenymError(f"{folder}: holds something already; name a new folder for the study")


def save(
    folder: Path, study: Study, key: Key, tokens: Mapping[str, str], clips: Mapping[str, bytes]
) -> None:
    """Writes a study into a folder that is private to its owner.

    Args:
        folder: is made; an existing one must be empty.
        clips: WAV files by token.

    Raises:
        VoicenymError: the folder holds something, or cannot be written; nothing is there then.
    """
    check_new(folder)
    try:
        with temporary_folder(folder.parent) as hidden:
            made = hidden / "study"
            private_folder(made)
            for inner in (STIMULI, str(Path(KEY).parent)):
                private_folder(made / inner)
            for token in sorted(clips):
                write_private(made / STIMULI / f"{token}.wav", clips[token])
            write_private(made / KEY, _text({"format": FORMAT, **dataclasses.asdict(key)}))
            write_private(made / TOKENS, _text(dict(tokens)))
            write_private(made / STUDY, _text({"format": FORMAT, **dataclasses.asdict(study)}))
            made.replace(folder)  # whole, or not there
    except OSError as error:
        raise VoicenymError(str(write_failed(str(folder), error))) from None


def load(folder: Path) -> Study:
    """Study of a folder, without its key.

    Raises:
        VoicenymError: no study, or of another release.
    """
    data = _data(folder, STUDY)
    try:
        sessions = {name: _pages(pages) for name, pages in data.pop("sessions").items()}
        return Study(sessions=sessions, **data)
    except (LookupError, TypeError, AttributeError) as error:
        raise _damaged(folder / STUDY, error) from None


def load_key(folder: Path) -> Key:
    """Key of a study.

    Raises:
        VoicenymError: none, or of another release.
    """
    data = _data(folder, KEY)
    try:
        items = {token: ItemKey(**one) for token, one in data.pop("items").items()}
        clips = {token: ClipKey(**one) for token, one in data.pop("clips").items()}
        systems = tuple(data.pop("systems"))
        return Key(items=items, clips=clips, systems=systems, **data)
    except (LookupError, TypeError, AttributeError) as error:
        raise _damaged(folder / KEY, error) from None


def load_tokens(folder: Path) -> dict[str, str]:
    """Tokens by listener.

    Raises:
        VoicenymError: none.
    """
    return {str(name): str(token) for name, token in _read(folder / TOKENS).items()}


def _pages(pages: Sequence[Mapping[str, Any]]) -> tuple[Page, ...]:
    return tuple(Page(**{**page, "clips": tuple(page["clips"])}) for page in pages)


def _data(folder: Path, name: str) -> dict[str, Any]:
    data = _read(folder / name)
    if data.pop("format", None) != FORMAT:
        raise VoicenymError(f"{folder / name}: of another release of voicenym; design it again")
    return data


def _read(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise VoicenymError(
            f"{path}: missing; give a folder that voicenym listen design wrote"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None
    if not isinstance(data, dict):
        raise _damaged(path, ValueError("no object"))
    return data


def _damaged(path: Path, error: Exception) -> VoicenymError:
    reason = " ".join(str(error).split())[:200]
    return VoicenymError(f"{path}: cannot be read as part of a study ({reason}); restore the file")


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
