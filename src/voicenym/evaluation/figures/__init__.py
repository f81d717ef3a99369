"""The figures of a report, each a function that gives an SVG."""

from voicenym.evaluation.figures.captioned_figure import ATTACKERS, UTILITY, CaptionedFigure
from voicenym.evaluation.figures.figure_list import first, gallery
from voicenym.evaluation.figures.score_figures import (
    det_curves,
    disclosure,
    histograms,
    linkabilities,
)
from voicenym.evaluation.figures.similarity_figures import similarities, vectors
from voicenym.evaluation.figures.svg import colours
from voicenym.evaluation.figures.system_figures import attackers, everybody, exposed, radar
from voicenym.evaluation.figures.training_curves import learning

__all__ = [
    "ATTACKERS",
    "UTILITY",
    "CaptionedFigure",
    "attackers",
    "colours",
    "det_curves",
    "disclosure",
    "everybody",
    "exposed",
    "first",
    "gallery",
    "histograms",
    "learning",
    "linkabilities",
    "radar",
    "similarities",
    "vectors",
]
