"""Labels of a speaker's sex in manifests and tables."""

LABELS = {
    "f": "f", "female": "f", "woman": "f", "girl": "f",
    "m": "m", "male": "m", "man": "m", "boy": "m",
}  # fmt: skip


def sex_of(label: str | None) -> str:
    """``f`` or ``m``; empty for other labels, such as ``unknown`` or ``u``.

    Example:
        >>> sex_of("Female"), sex_of("M"), sex_of("unknown"), sex_of(None)
        ('f', 'm', '', '')
    """
    return LABELS.get((label or "").strip().lower(), "")
