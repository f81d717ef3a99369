"""Timelines as HTML: one self-contained file without scripts, whose texts are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from voicenym.diarization.formats.timeline import HIDDEN, KEPT, SILENCED, SPEECH, Row, clock
from voicenym.errors import printable_page

COLOURS = {SPEECH: "#4878a8", KEPT: "#4878a8", HIDDEN: "#b04a3a", SILENCED: "#555555"}
LEFT, ROW, WIDTH = 140, 26, 1000
"""Pixels of the labels, of a row, and of the recording."""
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>body{{font:14px sans-serif;margin:1.5em}}svg{{max-width:100%;height:auto}}
td,th{{padding:.15em .8em .15em 0;text-align:left}}td+td{{text-align:right}}</style></head>
<body><h1>{title}</h1>
<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
{marks}
</svg>
<table><tr><th>treatment</th><th>seconds</th></tr>
{table}
</table></body></html>
"""


def page(
    title: str, rows: Sequence[Row], seconds: float, totals: Sequence[tuple[str, float]]
) -> str:
    """The file.

    Args:
        title: of the page.
        rows: of the timeline.
        seconds: length of the recording.
        totals: seconds by treatment.
    """
    marks = []
    scale = WIDTH / max(seconds, 1e-9)
    for tick in range(9):
        x = LEFT + tick * WIDTH / 8
        time = escape(clock(tick * seconds / 8))
        marks.append(f'<text x="{x:.1f}" y="14" font-size="12">{time}</text>')
    for number, row in enumerate(rows):
        y = 24 + number * ROW
        label = escape(row.label[:24])
        marks.append(f'<text x="0" y="{y + 15}" font-size="13">{label}</text>')
        marks.append(f'<rect x="{LEFT}" y="{y}" width="{WIDTH}" height="20" fill="#eee"/>')
        for span in row.spans:
            x, width = LEFT + span.start * scale, max(0.3, (span.end - span.start) * scale)
            about = f"{span.start:.2f} to {span.end:.2f} s: {span.kind}"
            about = escape(f"{about} ({span.why})" if span.why else about)
            marks.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="20" '
                f'fill="{COLOURS[span.kind]}"><title>{about}</title></rect>'
            )
    table = "\n".join(
        f"<tr><td>{escape(name)}</td><td>{value:.1f}</td></tr>" for name, value in totals
    )
    height = 30 + ROW * len(rows)
    return printable_page(
        _PAGE.format(
            title=escape(title),
            width=LEFT + WIDTH,
            height=height,
            marks="\n".join(marks),
            table=table,
        )
    )
