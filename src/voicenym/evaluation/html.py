"""Pieces of a page: figures, sentences and tables as HTML."""

from __future__ import annotations

import math
from html import escape

from voicenym.evaluation.results import Measured


def sentence(text: str) -> str:
    """Escaped, with a capital and a full stop."""
    text = text[:1].upper() + text[1:]
    return escape(text if text.endswith((".", "!", "?")) else f"{text}.")


def interval(m: Measured | None, digits: int = 1, otherwise: str = "not measured") -> str:
    """A figure with the limits of its interval, where it has one."""
    if m is None:
        return otherwise
    text = number(m.value, digits)
    if m.low is not None and m.high is not None:
        text += f' <span class="range">({number(m.low, digits)} to {number(m.high, digits)})</span>'
    return text


def number(value: float, digits: int, sign: str = "") -> str:
    """A value for people; ``sign`` as in a format."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = round(value, digits) + 0.0  # no minus zero
    return f"{rounded:{sign}.{digits}f}".replace("-", "−")


def grid(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    """A table; the first cell of a row is its head. Cells are HTML, the rest is text."""
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f'<td class="n">{cell}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(caption)}</caption><thead><tr>{head}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )
