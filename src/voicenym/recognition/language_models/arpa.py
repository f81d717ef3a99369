"""N-gram files in ARPA format, which most recognisers read."""

from __future__ import annotations

import math
import re
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.recognition.language_models.ngram import Gram, NGram

NEVER = -99.0
"""Common logarithm that stands for a probability of zero in ARPA files."""
DIGITS = 7
"""Decimal places."""


def write_arpa(model: NGram) -> str:
    """An n-gram model in ARPA format: common logarithms, contexts with their back-off weights."""
    levels: list[list[Gram]] = [[] for _ in range(model.order)]
    for gram in sorted(model.log_probs):
        levels[len(gram) - 1].append(gram)
    parts = ["\\data\\", *(f"ngram {n}={len(level)}" for n, level in enumerate(levels, 1))]
    for n, level in enumerate(levels, 1):
        parts += ["", f"\\{n}-grams:"]
        for gram in level:
            line = f"{_common(model.log_probs[gram])}\t{' '.join(gram)}"
            if gram in model.back_offs:
                line += f"\t{_common(model.back_offs[gram])}"
            parts.append(line)
    return "\n".join([*parts, "", "\\end\\", ""])


def read_arpa(source: Path | str) -> NGram:
    """Read an n-gram model from an ARPA file of any origin.

    Raises:
        VoicenymError: the file cannot be read, or is no ARPA file; the message names the line.
    """
    try:
        return parse_arpa(Path(source).read_text("utf-8"), str(source))
    except OSError as error:
        raise VoicenymError(f"{source}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise VoicenymError(f"{source}: not UTF-8; convert it, as with iconv -t utf-8") from None


def parse_arpa(text: str, source: str = "ARPA") -> NGram:
    """An n-gram model from the contents of a file; see :func:`read_arpa`."""
    log_probs: dict[Gram, float] = {}
    back_offs: dict[Gram, float] = {}
    promised: dict[int, int] = {}
    found: dict[int, int] = {}
    order, ended = 0, False
    # At line feeds only: a unit may be a character that Unicode takes for the end of a line.
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t\r")
        if not line or ended:
            continue
        count = re.fullmatch(r"ngram +(\d+) *= *(\d+)", line)
        section = re.fullmatch(r"\\(\d+)-grams:", line)
        if section:
            order = int(section[1])
        elif line == "\\end\\":
            ended = True
        elif count and not order:
            promised[int(count[1])] = int(count[2])
        elif order:
            fields = re.split(r"[ \t]+", line)
            gram = tuple(fields[1 : order + 1])
            try:
                log_probs[gram] = _natural(fields[0])
                if len(fields) == order + 2:
                    back_offs[gram] = _natural(fields[-1])
            except ValueError:
                fields = []
            if len(gram) != order or len(fields) not in (order + 1, order + 2):
                raise VoicenymError(
                    f"{source}:{number}: expected a logarithm, {order} units and perhaps another "
                    f"logarithm, found {line!r}"
                )
            found[order] = found.get(order, 0) + 1
    if not ended or not found or found != {n: c for n, c in promised.items() if c}:
        raise VoicenymError(
            f"{source}: no whole file of n-grams: it promises {promised or 'none'} and holds "
            f"{found or 'none'}; write it again"
        )
    highest = max(found)
    for gram in log_probs:  # a context whose back-off is left out backs off at no cost
        if len(gram) > 1:
            back_offs.setdefault(gram[:-1], 0.0)
    return NGram(highest, log_probs, back_offs)


def _common(natural: float) -> str:
    return f"{max(natural / math.log(10.0), NEVER):.{DIGITS}f}"


def _natural(common: str) -> float:
    value = float(common)
    return -math.inf if value <= NEVER else value * math.log(10.0)
