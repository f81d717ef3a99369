"""Scores and signals to figures: pure functions on arrays, each figure with its interval.

>>> from voicenym.metrics import eer
>>> round(eer([2.0, 3.0, 4.0], [0.0, 1.0, 2.5]).value, 3)
0.333
"""

# Imported at once, so that names such as ``eer`` are the functions and never the modules.
from voicenym.metrics.calibration import Affine
from voicenym.metrics.cllr import Cllr, cllr, min_cllr
from voicenym.metrics.curves import det, roc
from voicenym.metrics.eer import EER, eer, rocch_eer
from voicenym.metrics.interval import bootstrap
from voicenym.metrics.linkability import Linkability, linkability
from voicenym.metrics.pav import Calibration
from voicenym.metrics.scores import Speakers
from voicenym.metrics.zebra import Zebra, ece_profile, zebra

__all__ = [
    "EER",
    "Affine",
    "Calibration",
    "Cllr",
    "Linkability",
    "Speakers",
    "Zebra",
    "bootstrap",
    "cllr",
    "det",
    "ece_profile",
    "eer",
    "linkability",
    "min_cllr",
    "roc",
    "rocch_eer",
    "zebra",
]
