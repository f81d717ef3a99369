"""Links outputs to speakers' names again, by the key that made them.

For studies in which a trusted third party keeps the key: with names to test, and only with the key,
it finds the outputs of a speaker who withdraws consent, or who must be told of a finding. Each look
is recorded.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from voicenym.audio.atomic import write_failed
from voicenym.corpus.drawn_names import Names
from voicenym.corpus.readers import speaker_rule
from voicenym.corpus.run_records.line_table import Line
from voicenym.corpus.run_records.run_log import LOG_NAME, LONGEST_LINE, RunLog
from voicenym.corpus.shards import shard_ledger, shard_links
from voicenym.corpus.shards.shard_unit import LEDGER
from voicenym.corpus.shards.stores import store_locations
from voicenym.errors import CorpusError
from voicenym.pseudonym import Key
from voicenym.special_files import refuse_named_pipe


@dataclass(frozen=True)
class Links:
    """Outputs of speakers.

    Args:
        found: outputs by speaker, in the order of their names; samples of shards with the shard.
        unknown: outputs that do not say who speaks in them, so that a speaker may be there.
    """

    found: dict[str, list[str]]
    unknown: Sequence[str] = ()


def outputs_of(folder: Path, key: Key, speakers: Iterable[str], field: str | None = None) -> Links:
    """Outputs by speaker; speakers without one have none.

    Args:
        folder: of outputs, with the log of their run; or the URL of one in a store.
        key: of the run.
        speakers: names to test, as the run had them; letters with accents may be composed (NFC) or
            not (NFD), since file systems and editors differ.
        field: of the speaker in shards, if the run was told one.

    Raises:
        CorpusError: no log, or it is damaged or of another key.
    """
    place = store_locations.url_in(folder)
    lines = _lines(folder) if place is None else shard_ledger.lines_of_store(place)
    if not lines:
        log = LOG_NAME if place is None else f"{LEDGER}/"
        raise CorpusError(f"{place or folder}: has no {log}; give the output folder of a run")
    check = key.tag("key check")[:16]
    own = {name: line for name, line in lines.items() if line.get("key_check") == check}
    if not own:
        raise CorpusError(f"{place or folder}: made with another key; give the key of its run")
    names = Names(key)
    wanted = list(speakers)
    written = _written(wanted)
    found: dict[str, list[str]] = {speaker: [] for speaker in written}
    drawn = {names.speaker(speaker): speaker for speaker in found}
    for output in sorted(own):
        tag = own[output].get("speaker_check")
        guess = drawn.get(Path(output).parts[0])  # of --rename: no need to try all
        for speaker in [guess] if guess is not None else found:
            if tag is not None and speaker_rule.voice_check(key, speaker, output) == tag:
                found[speaker].append(output)
                break
    shards = {name: line for name, line in own.items() if shard_links.names_nobody(line)}
    unknown: Sequence[str] = ()
    if shards:
        inside = shard_links.links(place or str(folder), shards, key, found, field)
        unknown = inside.unknown
        for who in found:
            found[who] += inside.found[who]
    asked: dict[str, list[str]] = {speaker: [] for speaker in wanted}
    for who, outputs in found.items():
        asked[written[who]] += outputs
    return Links(asked, unknown)


def _written(speakers: Iterable[str]) -> dict[str, str]:
    """The name asked for, by each way in which a run may have had it."""
    exact = {speaker: speaker for speaker in speakers}
    forms = {
        unicodedata.normalize(form, speaker): speaker
        for speaker in exact
        for form in ("NFC", "NFD")
    }
    return {**forms, **exact}


def _lines(folder: Path) -> Mapping[str, Line]:
    """Lines of the log of a folder.

    Raises:
        CorpusError: it is no folder, or the log is damaged.
    """
    if folder.exists() and not folder.is_dir():
        raise CorpusError(f"{folder}: is no folder; give the output folder of a run")
    log = RunLog(folder / LOG_NAME)
    log.read()
    if not log.lines:
        log.check_lines()
    return log.lines


def record(path: Path, folder: Path, key: Key, found: dict[str, list[str]], why: str) -> None:
    """Appends a line about a look to a log of mode 0600, before anybody sees its result.

    Args:
        path: of the log; a file that exists is changed only if it is empty or such a log.
        folder: of outputs.
        key: that was used; the log has its tag only.
        found: outputs by speaker.
        why: reason that was given.

    Raises:
        CorpusError: it cannot be written, or is another file.
    """
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "user": _user(),
        "folder": store_locations.url_in(folder) or str(folder.resolve()),
        "key_check": key.tag("key check")[:16],
        "why": why,
        "speakers": sorted(found),
        "outputs": sum(map(len, found.values())),
    }
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):  # as far as the system has them
        flags |= getattr(os, name, 0)
    try:
        handle = os.open(path, flags, 0o600)
        try:
            start = _start_of_line(handle, path)
            os.write(handle, f"{start}{json.dumps(line)}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):  # a link, a folder, a pipe
            raise _no_log(path) from None
        raise CorpusError(str(write_failed(str(path), error))) from None


def _start_of_line(handle: int, path: Path) -> str:
    """Text that begins a new line at the end of a log of looks.

    Raises:
        CorpusError: the file is another one, which a line would damage.
    """
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise _no_log(path)
    if not status.st_size:
        return ""
    try:
        first = json.loads(os.read(handle, LONGEST_LINE).partition(b"\n")[0])
    except (ValueError, RecursionError):
        first = None
    if not isinstance(first, dict) or not {"key_check", "why"} <= first.keys():
        raise _no_log(path)
    os.lseek(handle, -1, os.SEEK_END)
    return "" if os.read(handle, 1) == b"\n" else "\n"  # after half a line of a full disk


def _no_log(path: Path) -> CorpusError:
    return CorpusError(
        f"{path}: exists already and is no log of relink; choose another name with --log"
    )


def names_in(path: Path) -> Sequence[str]:
    """Speakers' names in a text file, one a line.

    Raises:
        CorpusError: it cannot be read, is no text, or has no name.
    """
    refuse_named_pipe(path)
    try:
        lines = path.read_text("utf-8-sig").splitlines()  # editors add a byte order mark
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror}); check the name") from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: is no text in UTF-8; give names, one a line") from None
    names = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not names:
        raise CorpusError(f"{path}: has no names; give names, one a line")
    return names


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid()) if hasattr(os, "getuid") else "unknown"
