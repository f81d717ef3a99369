"""Errors of a server as ``application/problem+json`` (RFC 9457): with a cure and without paths."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from voicenym.apps.web.asgi_types import Send
from voicenym.errors import FULL, DependencyError, DiskFullError, VoicenymError, WeightsError

TYPE = b"application/problem+json"
Linger = Callable[[], Awaitable[None]]
OWN_FILE = "(a file of the server)"
_PATH = re.compile(r"(?<![\w.:/<])(?!/v1/)(?:~|[A-Za-z]:)?[/\\](?:[\w.@%+~-]+[/\\])+[\w.@%+~-]*")
"""A path of two parts or more that is no part of a web address, nor a path of our interfaces."""

_LENIENT = re.compile(r",? or add --lenient to [^;.]+")
_FOLDER = re.compile(
    r"; a path needs a separator, so write [^;]+ for the one in the current folder"
)
"""Tells which folders there are beside the server."""
_SETTING = re.compile(r"(?<![\w-])--set (?=\w)")
_OPTION = re.compile(r"(?<![\w-])--(?=[a-z])")


class Problem(VoicenymError):
    """Error of a request: what handlers raise, and what clients get.

    Args:
        status: HTTP status.
        detail: what is wrong with this request, a sentence without names of people or files.
        cure: what the client can do, a sentence.
        headers: of the response, such as ``Retry-After``.
        extra: further members of the JSON object.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        cure: str,
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.cure = status, cure
        self.headers = dict(headers or {})
        self.extra = dict(extra or {})

    def body(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": _sentence(_shown(str(self))),
            "cure": _sentence(_shown(self.cure)),
            **self.extra,
        }

    def response(self) -> tuple[int, bytes, dict[str, str]]:
        """Status, body and headers of the response."""
        data = json.dumps(self.body(), ensure_ascii=False).encode()
        headers = {"content-type": TYPE.decode(), "content-length": str(len(data)), **self.headers}
        return self.status, data, headers

    async def send(self, send: Send, linger: Linger | None = None) -> None:
        """Sends the whole response by ASGI.

        Args:
            send: of the server.
            linger: awaited when all of the answer was handed over, before the server is told so
                and may close the connection.
        """
        status, data, headers = self.response()
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": data, "more_body": linger is not None})
        if linger is not None:
            await linger()
            await send({"type": "http.response.body", "body": b""})


def busy(detail: str, seconds: float = 1.0, status: int = 503) -> Problem:
    """Problem of a server that has too much to do (503), or of a client that asks too often (429).

    Args:
        detail: a sentence.
        seconds: until another attempt is worth while.
        status: 503 or 429.
    """
    wait = max(1, round(seconds))
    cure = f"Send the request again after {wait} s."
    return Problem(status, detail, cure, {"Retry-After": str(wait)})


def problem_of(error: VoicenymError) -> Problem:
    """Problem of an error that a user can mend; its message has the cure after a semicolon."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, DiskFullError):  # the server's, and nothing that a client can mend
        return disk_full()
    what, cure = what_and_cure(for_requests(str(error)))
    status = 501 if isinstance(error, (DependencyError, WeightsError)) else 422
    return Problem(status, what, cure or "Change the request as the detail says.")


def what_and_cure(text: str) -> tuple[str, str]:
    """Halves of a message at its first semicolon outside of parentheses; the cure may be empty.

    Example:
        >>> what_and_cure("it is nearly the input (speech as before; 0.1 dB); take another key")
        ('it is nearly the input (speech as before; 0.1 dB)', 'take another key')
    """
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth <= 0 and text.startswith("; ", place):
            return text[:place], text[place + 2 :]
    what, _, cure = text.partition("; ")  # a parenthesis that does not close
    return what, cure


def disk_full() -> Problem:
    """Problem of a server whose disk is full."""
    return Problem(507, "The server's disk is full.", "Tell the operator, and try later.")


def is_disk_full(error: BaseException) -> bool:
    """Whether an exception is that of a full disk."""
    return isinstance(error, OSError) and error.errno in FULL


def is_defect(error: BaseException) -> bool:
    """Whether an exception is one that neither clients nor operators can mend."""
    return not isinstance(error, VoicenymError) and not is_disk_full(error)


def problem_of_any(error: BaseException) -> Problem:
    """Problem of any exception."""
    if isinstance(error, VoicenymError):
        return problem_of(error)
    return defect() if is_defect(error) else disk_full()


def defect() -> Problem:
    """Problem of a defect of ours; it says nothing of the inside."""
    return Problem(
        500,
        "The server failed on this request; nothing of it was kept.",
        "Report it with the version of voicenym and what you sent in general terms, no recording.",
    )


def for_requests(text: str) -> str:
    """Message of the command line as one for requests, whose fields have the names of options.

    There is no ``--lenient`` for them, no folder of the server is named, and what ``--set`` sets is
    a member of ``settings``.

    Example:
        >>> for_requests("a.wav: is silent; check it, or add --lenient to write it as it is")
        'a.wav: is silent; check it'
        >>> for_requests("its length changes; leave out --set rate=true, or try another --system")
        'its length changes; leave out the setting rate=true, or try another system'
    """
    for pattern in (_LENIENT, _FOLDER):
        text = pattern.sub("", text)
    return _OPTION.sub("", _SETTING.sub("the setting ", text))


def _shown(text: str) -> str:
    """Text for a client; it may quote a request in which characters are halved."""
    return without_paths(text).encode("utf-8", "replace").decode()


def _sentence(text: str) -> str:
    """Text with its full stop: messages of errors have none, and cures are shown after them."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def without_paths(text: str) -> str:
    """Text in which paths of files are replaced."""
    return _PATH.sub(OWN_FILE, text)
