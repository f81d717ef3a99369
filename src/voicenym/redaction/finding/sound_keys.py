"""Keys of words that sound alike: a recogniser spells a name as it pleases.

Letters of one sound get one sign, vowels get one sign, and silent letters and doubles vanish. The
rules are of English spelling, and ours; other languages get keys too, which join less.
"""

from __future__ import annotations

import re
import unicodedata

LEAST = 4
"""Length of a key below which words do not count as alike: too many short words share one."""
LEAST_NEAR = 6
"""Length of a key from which one sign may differ."""
_RULES = [
    (re.compile(pattern), sign)
    for pattern, sign in (
        (r"^(kn|gn|pn)", "n"),
        (r"^wr", "r"),
        (r"(?<=[bcdfghkst])w(?=[aeiou])", "u"),
        (r"^x", "s"),
        (r"^wh", "w"),
        (r"mb$", "m"),
        (r"tch|ch(?![rl])|tsch", "C"),
        (r"sch|sh|(?<=[aeiouy])ti(?=on)", "S"),
        (r"ph", "f"),
        (r"ght?(?=[^aeiouy]|$)", "t"),
        (r"gh", "g"),
        (r"th", "t"),
        (r"ck|q[u]?|ch", "k"),
        (r"c(?=[eiy])", "s"),
        (r"c", "k"),
        (r"x", "ks"),
        (r"z", "s"),
        (r"dge?|g(?=[eiy])", "j"),
        (r"v|w(?=[rl])", "v"),
        (r"(?<=[a-zA-Z])h(?![aeiouy])|(?<=[bdfgjklmnprstvw])h", ""),
        (r"(?<=[aeiou])[wy](?![aeiou])", ""),
        (r"(?<=.)e(s?)$", r"\1"),
        (r"[aeiouy]+", "a"),
        (r"(.)\1+", r"\1"),
    )
]


def plain(text: str) -> str:
    """Letters and digits of a text, case folded and without accents.

    Example:
        >>> plain("O'Brien-Müller's")
        'obrienmullers'
    """
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if c.isalnum())


def sound_key(text: str) -> str:
    """Key of a word or of several without blanks; words that sound alike mostly have one key.

    Example:
        >>> sound_key("Catherine") == sound_key("Katharine") == sound_key("katherin")
        True
        >>> sound_key("Smith") == sound_key("Schmidt")
        False
    """
    key = plain(text)
    for pattern, sign in _RULES:
        key = pattern.sub(sign, key)
    return key


def shorter(key: str) -> set[str]:
    """A key and, if it is long, all that lack one of its signs.

    Two keys that differ in one sign, or by one, share one of these.
    """
    found = {key}
    if len(key) >= LEAST_NEAR:
        found |= {key[:i] + key[i + 1 :] for i in range(1, len(key))}
    return found


def near(one: str, other: str) -> bool:
    """Whether two keys are equal or differ in one sign (inserted, left out or exchanged)."""
    if one == other:
        return True
    if abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < LEAST_NEAR - 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    a, b = one[start:], other[start:]
    if len(a) == len(b):
        return a[1:] == b[1:]
    return a[1:] == b if len(a) > len(b) else a == b[1:]
