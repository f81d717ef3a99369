"""Metrics: pure functions from scores and signals to figures with intervals.

>>> from voicenym.metrics import eer
>>> round(eer([2.0, 3.0, 4.0], [0.0, 1.0, 2.5]).value, 3)
0.333
"""

# Imported at once, so that names such as ``eer`` are the functions and never the modules.
from voicenym.metrics.intervals.interval import bootstrap, ratio_of_sums
from voicenym.metrics.joint_figures.paired import Difference, eer_difference
from voicenym.metrics.joint_figures.weighted import (
    WeightedMean,
    weighted_eer,
    weighted_gain,
    weighted_ratio,
)
from voicenym.metrics.trials.pav import Calibration
from voicenym.metrics.trials.scores import Speakers
from voicenym.metrics.trials.sorted_trials import SortedTrials
from voicenym.metrics.utility.intonation import PitchCorrelation, pitch_correlation
from voicenym.metrics.utility.opinion import Opinion, mean_opinion
from voicenym.metrics.utility.signal_measures import (
    RealTime,
    SignalToNoise,
    real_time_coefficient,
    signal_to_noise,
)
from voicenym.metrics.verification.calibration import Affine
from voicenym.metrics.verification.cllr import Cllr, cllr, min_cllr
from voicenym.metrics.verification.curves import det, roc, roc_band
from voicenym.metrics.verification.ece_profile import ece_profile
from voicenym.metrics.verification.eer import EER, HullEER, eer, rocch_eer
from voicenym.metrics.verification.linkability import Linkability, linkability
from voicenym.metrics.verification.rates import miss_match_rate, wrong_match_rate
from voicenym.metrics.verification.zebra import Zebra, zebra
from voicenym.metrics.voice_similarity.similarity import (
    Similarity,
    similarity_matrices,
    similarity_matrix,
)
from voicenym.metrics.voices.voice_distinctiveness import (
    deidentification,
    gain_of_voice_distinctiveness,
    similarity_between,
    similarity_within,
)
from voicenym.metrics.voices.voice_diversity import cross_similarity_distance, mixture_entropy
from voicenym.metrics.words.word_error_rate import ErrorRate, normalise, word_counts, word_errors

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
