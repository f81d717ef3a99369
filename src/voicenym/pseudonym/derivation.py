"""Derivation of secrets: HMAC-SHA-256 over length-prefixed fields (:mod:`voicenym.pseudonym`)."""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Mapping
from types import MappingProxyType

DERIVATION_VERSION = 1
KEY_BYTES = 32
FIRST_REVISION = 1
"""Revision of systems that a key does not name."""
ALL_FIRST: Mapping[str, int] = MappingProxyType({})
"""Revisions of a key that names no system."""


def length_prefixed(data: bytes) -> bytes:
    """Length-prefixed field, so that different lists of fields give different messages."""
    return struct.pack(">Q", len(data)) + data


def keyed_hash(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 of a message."""
    return hmac.new(key, message, hashlib.sha256).digest()
