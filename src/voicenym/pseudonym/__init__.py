"""Keys and pseudonyms: the only source of randomness in a system.

A key is 32 secret bytes. ``key.pseudonym(speaker)`` derives a secret for that speaker by
HMAC-SHA-256 (RFC 2104), and every random number of a pseudo-voice is derived from that secret by
purpose. One key therefore gives one speaker the same voice on any machine, in any order, in
parallel; without the key nobody can recompute it, and the deletion of the key removes the link.

Derivation, version 1 (pinned by known-answer tests; a change of it is a new version)::

    field(x)        = uint64_be(len(x)) || x
    speaker level   = HMAC(key, field("voicenym/pseudonym/1") || field(speaker))
    utterance level = HMAC(key, field("voicenym/pseudonym/1") || field(speaker) || field(utterance))
    block(p, i)     = HMAC(secret, field("voicenym/stream/1") || field(p) || uint64_be(i))

Voice parameters (:meth:`Pseudonym.uniform`, :meth:`Pseudonym.normal`, :meth:`Pseudonym.index`) are
computed from the blocks directly, because the distributions of ``numpy.random.Generator`` and
``torch.Generator`` may change between releases and a voice must not.

A key file also says which derivation and which revision of each system its voices are made with, so
that an upgrade of the package changes no voice (docs/howto/keys.md).
"""

from voicenym.pseudonym.derivation import DERIVATION_VERSION, FIRST_REVISION
from voicenym.pseudonym.key_file import readable_by_others
from voicenym.pseudonym.random_draws import Pseudonym
from voicenym.pseudonym.secret_key import Key

__all__ = ["DERIVATION_VERSION", "FIRST_REVISION", "Key", "Pseudonym", "readable_by_others"]
