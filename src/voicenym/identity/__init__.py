"""Identity methods: from a speaker vector to a pseudo-speaker's vector, one published method a
file.
"""

from voicenym.identity.method import Identity, Sex
from voicenym.identity.method_table import METHODS, identities, identity

__all__ = ["METHODS", "Identity", "Sex", "identities", "identity"]
