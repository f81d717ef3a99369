"""Categories of words that are removed, and the entities of Presidio that belong to them."""

from __future__ import annotations

from collections.abc import Sequence

from voicenym.errors import RedactionError

NAMES, PLACES, NUMBERS, DATES, ADDRESSES = "names", "places", "numbers", "dates", "addresses"
LISTED = "list"
"""Category of the words of one's own list; it is not among those that are chosen by name."""
CATEGORIES = (NAMES, PLACES, NUMBERS, DATES, ADDRESSES)
ENTITIES = {
    "PERSON": NAMES,
    "LOCATION": PLACES,
    "NUMBER": NUMBERS,
    "PHONE_NUMBER": NUMBERS,
    "CREDIT_CARD": NUMBERS,
    "IBAN_CODE": NUMBERS,
    "US_SSN": NUMBERS,
    "DATE_TIME": DATES,
    "ADDRESS": ADDRESSES,
    "EMAIL_ADDRESS": ADDRESSES,
    "URL": ADDRESSES,
    "IP_ADDRESS": ADDRESSES,
}
"""Category by Presidio's entity."""
LABELS = {
    NAMES: "[NAME]",
    PLACES: "[PLACE]",
    NUMBERS: "[NUMBER]",
    DATES: "[DATE]",
    ADDRESSES: "[ADDRESS]",
    LISTED: "[REDACTED]",
}
"""What stands for them in a redacted transcript."""


def categories_of(given: Sequence[str]) -> tuple[str, ...]:
    """Categories by the values of an option, each of which may name several, with commas.

    Raises:
        RedactionError: an unknown one.

    Example:
        >>> categories_of(["numbers,names", "names"])
        ('names', 'numbers')
    """
    found = {name.strip().lower() for value in given for name in value.split(",") if name.strip()}
    unknown = sorted(found - {*CATEGORIES, "all"})
    if unknown:
        raise RedactionError(
            f"no category {unknown[0]!r} of words; there are: {', '.join(CATEGORIES)}, all "
            "(words of your own: --list FILE)"
        )
    return tuple(name for name in CATEGORIES if name in found or "all" in found)
