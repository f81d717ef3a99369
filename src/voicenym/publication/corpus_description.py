"""Description of a corpus that its publisher writes: licence, consent, contact, custody of the key.

The file is TOML. Nothing in it has a default that somebody else would have to answer for: a field
that is required and empty is an error.
"""

from __future__ import annotations

import datetime
import os
import re
import tomllib
import unicodedata
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from voicenym.audio.atomic import AtomicFile
from voicenym.errors import CorpusError, quoted
from voicenym.libraries import library
from voicenym.special_files import refuse_named_pipe

CUSTODY = ("destroyed", "kept", "never stored")
"""What became of the key."""
CLAIM = re.compile(
    r"\b(?:fully |truly )?[aá]n[oóô]n(?:yy?|ie?)m(?!i[sz])\w*"
    r"|\bаноним(?!из)\w*|匿名(?!化)|익명(?!화)",
    re.IGNORECASE,
)
"""Words that claim more than any figure supports: *anonymous* and *anonymity*, as other languages
have them, too (anonym, anónimo, anoniem, анонимный). *Anonymized*, what was done, is no claim.
"""
_NAME = re.compile(r"[\w. -]{1,100}")
_PLACEHOLDER = re.compile(
    r"\W*|(todo|tb[acd]|fixme|xxx+|n/?a|lorem ipsum)\b.*", re.IGNORECASE | re.DOTALL
)
_PAGE = r"https?://[^\s/.]+(\.[^\s/.]+)+(/\S*)?"
_REACHED = re.compile(rf"\b[^\s@]+@[^\s@.]+(\.[^\s@.]+)+\b|{_PAGE}")
_LICENCE = re.compile(rf"[A-Za-z0-9.+-]+|{_PAGE}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


def _statement(help: str, default: Any = None) -> Any:
    kept = {"help": help}
    if default is None:
        return field(metadata=kept)
    return field(default=default, metadata=kept)


@dataclass(frozen=True)
class Description:
    """What a publisher states on a corpus; fields without a default must be filled."""

    title: str = _statement("Name of the data set, letters, digits, spaces, dots and hyphens.")
    version: str = _statement("Of the data set, such as 1.0.0.")
    date: datetime.date = _statement(  # noqa: RUF009
        "Of the publication, such as 2026-11-30, without quotes."
    )
    description: str = _statement("What was recorded, in a paragraph.")
    languages: tuple[str, ...] = _statement('Spoken languages by BCP 47, such as ["en", "de"].')
    creators: tuple[str, ...] = _statement("Persons or institutions that publish it.")
    contact: str = _statement(
        "For reports of a re-identification: a mail address, or a page that begins with https://."
    )
    licence: str = _statement("SPDX identifier, such as CC-BY-4.0, or the address of the licence.")
    consent: str = _statement("How the speakers consented to this publication, or the legal basis.")
    collection: str = _statement("How, where and when the originals were recorded.")
    sensitive: str = _statement(
        "What of the contents is personal or sensitive; say so if nothing is."
    )
    uses: tuple[str, ...] = _statement("Intended uses.")
    key: str = _statement(f"What became of the key: {', '.join(CUSTODY)}.")
    key_custody: str = _statement("Who destroyed or keeps it, how, and what it may be used for.")
    url: str = _statement("Page of the data set.", "")
    citation: str = _statement("How to cite it.", "")
    forbidden_uses: tuple[str, ...] = _statement(
        "Uses that the licence or the consent excludes.",
        ("Attempts to find out who the speakers are.",),
    )
    biases: tuple[str, ...] = _statement("Known imbalances, such as of accents or ages.", ())
    limitations: tuple[str, ...] = _statement("Further limits of the data.", ())

    @property
    def cited(self) -> str:
        """How to cite it: as stated, else by creators, year, title and version."""
        who = ", ".join(self.creators)
        made = f"{who} ({self.date.year}). {self.title}, version {self.version}."
        return self.citation or made


def template(path: Path) -> None:
    """Writes an empty description to fill in.

    Raises:
        CorpusError: the file exists.
        AudioError: it cannot be written.
    """
    if os.path.lexists(path):
        raise CorpusError(f"{path}: exists already; fill it in, or choose another name")
    lines = ["# Description of a corpus for voicenym release. Empty fields must be filled in,"]
    lines += ["# but for those below the line.", ""]
    for one in fields(Description):
        if one.name == "url":
            lines += ["# ---- may stay empty ----", ""]
        lines.append(f"# {one.metadata['help']}")
        several = str(one.type).startswith("tuple")
        given = getattr(Description, one.name, ())
        values = ", ".join(f'"{value}"' for value in given) if several else ""
        lines += [f"{one.name} = [{values}]" if several else f'{one.name} = ""', ""]
    file = AtomicFile(path, overwrite=False)
    try:
        file.temporary.write_text("\n".join(lines), "utf-8")
        file.commit()
    finally:
        file.discard()


def read(path: Path) -> Description:
    """A filled description.

    Raises:
        CorpusError: no such file, not TOML, an unknown or empty field, or a claim that no figure
            supports.
    """
    refuse_named_pipe(path)
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError:
        raise CorpusError(
            f"{path}: does not exist; write one with voicenym release --template {path}"
        ) from None
    except (OSError, ValueError) as error:
        raise CorpusError(f"{path}: is no TOML file ({error}); correct it") from None
    known = {one.name: one for one in fields(Description)}
    strange = [name for name in data if name not in known]
    if strange:
        raise CorpusError(f"{path}: has no field {quoted(strange[0])}; take it out")
    required = [name for name in known if not hasattr(Description, name)]
    given = {n: v.strip() if isinstance(v, str) else v for n, v in data.items()}
    empty = [name for name in required if given.get(name) in (None, "", [])]
    if empty:
        raise CorpusError(
            f"{path}: {', '.join(empty)} must be filled in; nothing is published without"
        )
    made = Description(**{name: _value(path, known[name], value) for name, value in given.items()})
    _check(path, made)
    return replace(made, licence=_listed(path, made.licence))


def _listed(path: Path, licence: str) -> str:
    """A licence's identifier as SPDX's list spells it; an address as it is.

    Without packaging 24.2, which has the list, an identifier is taken as it is.

    Raises:
        CorpusError: the list does not have it.
    """
    if re.fullmatch(_PAGE, licence):
        return licence
    try:
        licences = library("packaging.licenses")
    except ImportError:
        return licence
    try:
        found = str(licences.canonicalize_license_expression(licence))
    except licences.InvalidLicenseExpression:
        found = ""
    if not found or found.startswith("LicenseRef-"):
        raise CorpusError(
            f"{path}: licence {quoted(licence)} is not on SPDX's list (https://spdx.org/licenses), "
            "so that nobody could look it up; give an identifier of the list with its version, "
            "such as CC-BY-4.0, or the address of the licence"
        )
    return found


def _value(path: Path, one: Any, value: Any) -> Any:
    """A value of the field's type."""
    if str(one.type).startswith("tuple"):
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            raise CorpusError(f'{path}: {one.name} must be a list of texts, such as ["..."]')
        return tuple(v.strip() for v in value)
    if one.name == "date":
        if isinstance(value, str):
            try:
                return datetime.date.fromisoformat(value)
            except ValueError:
                value = None
        if type(value) is datetime.date:
            return value
        raise CorpusError(f"{path}: date must be a day, such as 2026-11-30")
    if not isinstance(value, str):
        raise CorpusError(f'{path}: {one.name} must be a text in quotes, such as "..."')
    return value


def _check(path: Path, made: Description) -> None:
    if not _NAME.fullmatch(made.title):
        raise CorpusError(
            f"{path}: title has other characters than letters, digits, blanks, dots and hyphens, "
            "or more than 100; shorten it"
        )
    for name, value in vars(made).items():
        texts = value if isinstance(value, tuple) else (str(value),)
        if any(text and _PLACEHOLDER.fullmatch(text) for text in texts):
            raise CorpusError(f"{path}: {name} says nothing yet; fill it in")
    if not _REACHED.search(made.contact):
        raise CorpusError(
            f"{path}: contact has no mail address and no page, so that nobody could report a "
            "re-identification; give one, such as privacy@example.org or https://example.org/report"
        )
    if not _LICENCE.fullmatch(made.licence):
        raise CorpusError(
            f"{path}: licence must be an SPDX identifier, such as CC-BY-4.0, or the address of a "
            "page that holds it"
        )
    if wrong := [one for one in made.languages if not _LANGUAGE.fullmatch(one)]:
        raise CorpusError(
            f"{path}: languages has {quoted(wrong[0])}; give tags of BCP 47, such as en or pt-BR"
        )
    if made.key not in CUSTODY:
        raise CorpusError(
            f"{path}: key is {quoted(made.key)}; it must be one of {', '.join(CUSTODY)}"
        )
    for name, value in vars(made).items():
        texts = value if isinstance(value, tuple) else (str(value),)
        for text in texts:
            if found := CLAIM.search(unicodedata.normalize("NFC", text)):
                raise CorpusError(
                    f"{path}: {name} says {found[0]!r}, which no measured figure supports; say "
                    "'anonymized' or 'pseudonymized', which is what was done"
                )
