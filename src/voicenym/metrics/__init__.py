"""Metrics: pure functions from scores and signals to figures with intervals.

>>> from voicenym.metrics import eer
>>> round(eer([2.0, 3.0, 4.0], [0.0, 1.0, 2.5]).value, 3)
0.333
"""

# Imported at once, so that names such as ``eer`` are the functions and never the modules.
from voicenym.metrics.calibration import Affine
from voicenym.metrics.cllr import Cllr, cllr, min_cllr
from voicenym.metrics.curves import det, roc, roc_band
from voicenym.metrics.ece_profile import ece_profile
from voicenym.metrics.eer import EER, HullEER, eer, rocch_eer
from voicenym.metrics.interval import bootstrap, ratio_of_sums
from voicenym.metrics.intonation import PitchCorrelation, pitch_correlation
from voicenym.metrics.linkability import Linkability, linkability
from voicenym.metrics.opinion import Opinion, mean_opinion
from voicenym.metrics.paired import Difference, eer_difference
from voicenym.metrics.pav import Calibration
from voicenym.metrics.rates import miss_match_rate, wrong_match_rate
from voicenym.metrics.scores import Speakers
from voicenym.metrics.signal_measures import (
    RealTime,
    SignalToNoise,
    real_time_coefficient,
    signal_to_noise,
)
from voicenym.metrics.similarity import Similarity, similarity_matrices, similarity_matrix
from voicenym.metrics.sorted_trials import SortedTrials
from voicenym.metrics.voice_distinctiveness import (
    deidentification,
    gain_of_voice_distinctiveness,
    similarity_between,
    similarity_within,
)
from voicenym.metrics.voice_diversity import cross_similarity_distance, mixture_entropy
from voicenym.metrics.weighted import WeightedMean, weighted_eer, weighted_gain, weighted_ratio
from voicenym.metrics.words.word_error_rate import ErrorRate, normalise, word_counts, word_errors
from voicenym.metrics.zebra import Zebra, zebra

__all__ = [
    "EER",
    "Affine",
    "Calibration",
    "Cllr",
    "Difference",
    "ErrorRate",
    "HullEER",
    "Linkability",
    "Opinion",
    "PitchCorrelation",
    "RealTime",
    "SignalToNoise",
    "Similarity",
    "SortedTrials",
    "Speakers",
    "WeightedMean",
    "Zebra",
    "bootstrap",
    "cllr",
    "cross_similarity_distance",
    "deidentification",
    "det",
    "ece_profile",
    "eer",
    "eer_difference",
    "gain_of_voice_distinctiveness",
    "linkability",
    "mean_opinion",
    "min_cllr",
    "miss_match_rate",
    "mixture_entropy",
    "normalise",
    "pitch_correlation",
    "ratio_of_sums",
    "real_time_coefficient",
    "roc",
    "roc_band",
    "rocch_eer",
    "signal_to_noise",
    "similarity_between",
    "similarity_matrices",
    "similarity_matrix",
    "similarity_within",
    "weighted_eer",
    "weighted_gain",
    "weighted_ratio",
    "word_counts",
    "word_errors",
    "wrong_match_rate",
    "zebra",
]
