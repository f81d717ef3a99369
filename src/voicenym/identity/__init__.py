"""Who to become: a speaker vector to a pseudo-speaker's vector, one published method a file."""

from voicenym.identity.method import Identity, Sex
from voicenym.identity.registry import identities, identity

__all__ = ["Identity", "Sex", "identities", "identity"]
