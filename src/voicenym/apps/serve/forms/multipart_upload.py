"""Multipart uploads, streamed to a private file; the framework would keep them elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from voicenym.apps.web.asgi_types import Receive, Scope, header
from voicenym.apps.web.problem_details import Problem
from voicenym.private import open_private

MOST_FIELD_BYTES = 64 << 10
"""Bytes of all text fields."""
LONG_FIELDS = {"turns": 4 << 20}
"""Fields that may be longer, each up to so many bytes."""
MOST_PARTS = 32
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")


@dataclass
class Upload:
    """What a client sent.

    Args:
        path: of the file, in the private folder.
        suffix: of the client's name of the file, which is not kept; empty if it is unusual.
        size: of the file in bytes.
        fields: texts by name.
    """

    path: Path
    suffix: str = ""
    size: int = 0
    fields: dict[str, str] = field(default_factory=dict)


async def receive_upload(
    scope: Scope, receive: Receive, folder: Path, file_field: str, text_fields: Collection[str]
) -> Upload:
    """Reads a multipart form, of which one part is a file.

    Args:
        scope: of the request.
        receive: of the server.
        folder: private; the file is ``original`` in it.
        file_field: name of the file's part.
        text_fields: names of the others; a form with further names is refused.

    Raises:
        Problem: 415 for another type; 400 for a malformed or truncated form; 422 for a missing or
            empty file, or an unknown field.
        OSError: it cannot be kept, such as on a full disk.
    """
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, parse_options_header

    kind, options = parse_options_header(header(scope, b"content-type") or "")
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        raise Problem(
            415,
            "The request is no multipart form.",
            f"Send multipart/form-data with the recording in the field {file_field}.",
        )
    upload = Upload(folder / "original")
    with open_private(upload.path, "xb") as file:
        form = _Form(upload, file, file_field, text_fields, parse_options_header)
        try:
            parser = MultipartParser(boundary, form.callbacks())
        except FormParserError:  # a boundary that is too long
            raise _malformed() from None
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                raise _truncated()
            try:
                parser.write(message.get("body", b""))
            except FormParserError:
                raise _malformed() from None
            more = message.get("more_body", False)
    if not form.is_complete:
        raise _truncated()
    if not form.has_file:
        raise Problem(422, f"The form has no {file_field}.", f"Send a recording as {file_field}.")
    if not upload.size:
        raise Problem(422, f"The {file_field} is empty.", "Send a recording that has a sound.")
    return upload


class _Form:
    """Callbacks of the parser, which write the file and collect the fields."""

    def __init__(
        self,
        upload: Upload,
        file: Any,
        file_field: str,
        text_fields: Collection[str],
        options_of: Any,
    ) -> None:
        self._upload, self._file = upload, file
        self._file_field, self._text_fields, self._options_of = file_field, text_fields, options_of
        self._name, self._value, self._headers = b"", b"", {}  # type: ignore[var-annotated]
        self._field: str | None = None
        self._text = bytearray()
        self._count = self._texts = 0
        self.has_file = self.is_complete = False

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_name,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._named,
            "on_part_data": self._data,
            "on_part_end": self._end,
            "on_end": self._complete,
        }

    def _begin(self) -> None:
        self._count += 1
        if self._count > MOST_PARTS:
            raise Problem(422, "The form has too many fields.", "Send each field once.")
        self._headers, self._name, self._value = {}, b"", b""
        self._text.clear()

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._name.lower()] = self._value
        self._name, self._value = b"", b""

    def _named(self) -> None:
        _, options = self._options_of(self._headers.get(b"content-disposition", b""))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        self._field = name
        if name == self._file_field:
            if self.has_file:
                raise Problem(422, f"The form has {name} twice.", "Send one recording a request.")
            self.has_file = True
            given = options.get(b"filename", b"").decode("utf-8", "replace")
            suffix = PurePosixPath(given.replace("\\", "/")).suffix
            self._upload.suffix = suffix if _SUFFIX.fullmatch(suffix) else ""
        elif name not in self._text_fields or name in self._upload.fields:
            known = ", ".join((self._file_field, *self._text_fields))
            raise Problem(
                422, "The form has an unknown or repeated field.", f"Fields are {known}, each once."
            )

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._field == self._file_field:
            self._upload.size += end - start
            self._file.write(memoryview(data)[start:end])
            return
        most = LONG_FIELDS.get(self._field or "")
        if most is None:
            self._texts += end - start
        size = self._texts if most is None else len(self._text) + end - start
        if size > (most or MOST_FIELD_BYTES):
            raise Problem(413, "The fields of the form are too long.", "Shorten them.")
        self._text += data[start:end]

    def _end(self) -> None:
        if self._field is not None and self._field != self._file_field:
            try:
                self._upload.fields[self._field] = self._text.decode("utf-8")
            except UnicodeDecodeError:
                raise Problem(422, "A field is not UTF-8.", "Send text as UTF-8.") from None

    def _complete(self) -> None:
        self.is_complete = True


def _malformed() -> Problem:
    return Problem(400, "The form is malformed.", "Send multipart/form-data as RFC 7578 has it.")


def _truncated() -> Problem:
    return Problem(
        400, "The form ends before its end; nothing of it was kept.", "Send it again as a whole."
    )
