"""Errors of object stores as messages for the user, each with its cure."""

from __future__ import annotations

import errno
import os

from voicenym.corpus.readers.id_checks import printable
from voicenym.errors import CorpusError

FULL = ("QuotaExceeded", "InsufficientStorage", "StorageFull", "EntityTooLarge", "507")
"""Parts of messages of stores that take no more data."""
MISSING = ("RepositoryNotFoundError", "EntryNotFoundError", "RevisionNotFoundError")
"""Errors of Hugging Face's client for what is not there, or not for this user."""


def passes(error: Exception) -> bool:
    """Whether a call may succeed if it is tried again."""
    if isinstance(error, (FileNotFoundError, PermissionError, FileExistsError, ImportError)):
        return False
    words = words_of(error)
    refused = ("NoCredentials", "EndpointConnectionError", "InvalidAccessKey", "SignatureDoes")
    return not _full(error) and not any(word in words for word in (*refused, *MISSING))


def _full(error: Exception) -> bool:
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return getattr(error, "errno", None) in full or any(w in words_of(error) for w in FULL)


def words_of(error: BaseException | None) -> str:
    """Types and messages of an error and of its causes."""
    text, seen = "", 0
    while error is not None and seen < 5:
        text += f"{type(error).__name__} {error} "
        error, seen = error.__cause__ or error.__context__, seen + 1
    return text


def store_error(location: str, error: Exception) -> CorpusError:
    """Error of a store for the user, in one line with its cure."""
    words = words_of(error)
    text = printable(" ".join(str(error).split()))[:160] or type(error).__name__
    if isinstance(error, OSError) and error.filename and "://" not in str(error.filename):
        cure = f"{error.strerror}: {error.filename}; free some space there, or set TMPDIR"
    elif "NoCredentials" in words or "DefaultCredentialsError" in words:
        cure = (
            "no credentials for this store were found; set them as its own tools do "
            "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or aws configure)"
        )
    elif _full(error):
        cure = f"the store takes no more data ({text}); free some space there and run again"
    elif isinstance(error, PermissionError) or "InvalidAccessKey" in words:
        cure = f"access was denied ({text}); check the credentials and their rights"
    elif isinstance(error, FileNotFoundError) or any(word in words for word in MISSING):
        cure = "no such bucket or object; check the name, and create the bucket first"
    elif any(w in words for w in ("Connect", "Timeout", "gaierror", "Unreachable")):
        host = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
        cure = (
            f"the store{f' at {host}' if host else ''} cannot be reached; check the network and "
            "the endpoint, and run again: what is done is skipped"
        )
    else:
        cure = f"the store fails ({text}); run again: what is done is skipped"
    return CorpusError(f"{location}: {cure}")
