"""The figures of a report, each a function that gives an SVG."""

from voicenym.benchmark.figures.attacks import det_curves, disclosure, histograms, linkabilities
from voicenym.benchmark.figures.canvas import colours
from voicenym.benchmark.figures.gallery import Shown, gallery
from voicenym.benchmark.figures.learning import learning
from voicenym.benchmark.figures.overview import attackers, everybody, exposed, radar
from voicenym.benchmark.figures.voices import similarities, vectors

__all__ = [
    "Shown",
    "attackers",
    "colours",
    "det_curves",
    "disclosure",
    "everybody",
    "exposed",
    "gallery",
    "histograms",
    "learning",
    "linkabilities",
    "radar",
    "similarities",
    "vectors",
]
