"""Parts of an HTML page: style, numbers, sentences and tables."""

from __future__ import annotations

import math
import re
from html import escape
from typing import TYPE_CHECKING

from voicenym.evaluation.results import Measured

if TYPE_CHECKING:
    from voicenym.evaluation.figures.captioned_figure import CaptionedFigure

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; background: #fff; }
h1 { font-size: 1.7rem; margin-bottom: 0; } h2 { margin: 2rem 0 .5rem; font-size: 1.35rem; }
h3 { font-size: 1.05rem; margin: 0; }
.about { color: #555; margin-top: .3rem; }
.verdict { border-left: .4rem solid #777; padding: .5rem 1rem; margin: .7rem 0; }
.verdict { background: #f6f6f6; break-inside: avoid; }
.verdict p { margin: .2rem 0 0; }
.verdicts { list-style: none; padding: 0; } .verdicts .verdict { padding: .35rem 1rem; }
nav { margin: 1.5rem 0; } section { border-top: 1px solid #bbb; margin-top: 2.5rem; }
.hardly { border-color: #b00020; } .weakly { border-color: #d55e00; }
.partly { border-color: #e69f00; } .resists { border-color: #0072b2; }
.warning { background: #fff4d6; padding: .5rem 1rem; margin: .5rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .86rem; margin: .5rem 0; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { text-align: left; padding: .35rem .5rem; vertical-align: top; }
tbody th, td { border-bottom: 1px solid #ddd; } tr { break-inside: avoid; }
thead th { border-bottom: 2px solid #777; } td.n { font-variant-numeric: tabular-nums; }
small, .range { color: #555; font-size: .88em; } .range { white-space: nowrap; }
figure { margin: 1.5rem 0; break-inside: avoid; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; color: #333; } .more { margin: .8rem 0; }
@page { margin: 15mm; }
@media print {
  :root { font-size: 11px; } body { margin: 0; padding: 0; max-width: none; }
  nav { display: none; } section { break-before: page; border: none; margin: 0; }
  h2, h3 { break-after: avoid; } .wide { overflow: visible; }
  figure svg { max-height: 225mm; }
  .verdict, .warning { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def sentence(text: str, name: str = "") -> str:
    """Escaped sentence with a full stop, and with a capital letter unless it begins with a name.

    Args:
        text: the sentence, without the name.
        name: at its beginning, such as that of a system, which is written as it is.
    """
    text = name + text if name else text[:1].upper() + text[1:]
    return escape(text if text.endswith((".", "!", "?")) else f"{text}.")


def interval(m: Measured | None, digits: int = 1, otherwise: str = "not measured") -> str:
    """Text of a figure with the limits of its interval, if it has one."""
    if m is None:
        return otherwise
    text = number(m.value, digits)
    if m.low is not None and m.high is not None:
        text += f' <span class="range">({number(m.low, digits)} to {number(m.high, digits)})</span>'
    return text


def number(value: float, digits: int, sign: str = "") -> str:
    """Text of a value; ``sign`` as in a format specification."""
    if math.isnan(value):
        return "unknown"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    rounded = round(value, digits) + 0.0  # no minus zero
    return f"{rounded:{sign}.{digits}f}".replace("-", "−")


def grid(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    """HTML table; the first element of a row is its head. Elements are HTML, captions and heads
    text.
    """
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


def figure_html(number: int, displayed: CaptionedFigure) -> str:
    """SVG of a figure with ids that are unique on the page, and without addresses."""
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", displayed.svg)
    svg = re.sub(r'(?<= id=")|(?<=href="#)|(?<=url\(#)', f"f{number}-", svg)
    label = escape(f"{displayed.title}. {displayed.alt}")
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return (
        f"<figure><h3>{escape(displayed.title)}</h3>{svg}"
        f"<figcaption>{escape(displayed.how)}</figcaption></figure>"
    )
