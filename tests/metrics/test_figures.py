"""All metrics return a frozen dataclass with a value, an interval and a unit."""

import dataclasses
import sys

import numpy as np
import pytest

from voicenym import metrics

RNG = np.random.default_rng(0)
T, N = RNG.normal(2, 1, 60), RNG.normal(0, 1, 200)
FEW = {"replicates": 10}
VOICES = RNG.standard_normal((10, 6))
PEOPLE = VOICES + 3.0 * np.repeat(np.eye(6)[:5], 2, axis=0)
MATRICES = metrics.similarity_matrices(
    PEOPLE, PEOPLE + 0.3 * RNG.standard_normal((10, 6)), list("aabbccddee")
)
WHO = metrics.Speakers(
    np.repeat(np.arange(60) % 6, 2).reshape(-1, 2),
    np.stack([np.arange(200) % 6, (np.arange(200) + 1) % 6], axis=1),
)
FEWER = metrics.Speakers(WHO.target[:30], WHO.nontarget)
MELODY = 150 + 20 * np.sin(np.arange(200) / 9)


def _opinion():
    module = type(sys)("dnsmos")
    module.run = lambda x, sr: dict.fromkeys(("ovrl_mos", "sig_mos", "bak_mos", "p808_mos"), x[0])
    package = type(sys)("speechmos")
    package.dnsmos = module
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "speechmos", package)
        return metrics.mean_opinion([np.full(16000, x) for x in (0.1, 0.2, 0.1, 0.3, 0.2)], **FEW)


def _words():
    pytest.importorskip("jiwer")
    return metrics.word_errors(["a b", "c d"] * 3, ["a", "c d"] * 3, list("pqrstu"))


FIGURES = {
    "eer": lambda: metrics.eer(T, N, WHO, **FEW),
    "rocch_eer": lambda: metrics.rocch_eer(T, N, WHO, **FEW),
    "weighted_eer": lambda: metrics.weighted_eer([(T, N, WHO)], [1.0], **FEW),
    "weighted_ratio": lambda: metrics.weighted_ratio(
        [([1, 3] * 3, [2] * 6, "abcdef")], [1.0], **FEW
    ),
    "weighted_gain": lambda: metrics.weighted_gain([(MATRICES.oo, MATRICES.aa)], [1.0], **FEW),
    "eer_difference": lambda: metrics.eer_difference((T, N, WHO), (T[:30], N, FEWER), **FEW),
    "cllr": lambda: metrics.cllr(T, N, WHO, **FEW),
    "min_cllr": lambda: metrics.min_cllr(T, N, WHO, **FEW),
    "zebra": lambda: metrics.zebra(T, N, WHO, **FEW),
    "linkability": lambda: metrics.linkability(T, N, WHO, **FEW),
    "miss_match_rate": lambda: metrics.miss_match_rate(T, 1.0),
    "wrong_match_rate": lambda: metrics.wrong_match_rate(N, 1.0),
    "gain_of_voice_distinctiveness": lambda: metrics.gain_of_voice_distinctiveness(
        MATRICES.oo, MATRICES.aa, **FEW
    ),
    "deidentification": lambda: metrics.deidentification(MATRICES.oo, MATRICES.oa, **FEW),
    "similarity_within": lambda: metrics.similarity_within(MATRICES.oa, **FEW),
    "similarity_between": lambda: metrics.similarity_between(MATRICES.oa, **FEW),
    "cross_similarity_distance": lambda: metrics.cross_similarity_distance(VOICES, VOICES[:5]),
    "mixture_entropy": lambda: metrics.mixture_entropy([0.5, 0.5], [[0.0], [1.0]], [[1.0], [1.0]]),
    "pitch_correlation": lambda: metrics.pitch_correlation(MELODY, MELODY + np.arange(200) / 9),
    "signal_to_noise": lambda: metrics.signal_to_noise(T, T + 0.1 * N[:60]),
    "real_time_coefficient": lambda: metrics.real_time_coefficient([1.0, 2.0] * 3, [9.0] * 6),
    "mean_opinion": _opinion,
    "word_errors": _words,
}
NO_FIGURES = {
    "word_counts",
    *("Affine", "Calibration", "Speakers", "bootstrap", "ratio_of_sums", "normalise"),
    *("det", "roc", "roc_band", "ece_profile", "similarity_matrices", "similarity_matrix"),
}
"""Curves and matrices, whose limits are point by point; and tools."""


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_value_interval_and_unit(name):
    found = FIGURES[name]()
    assert dataclasses.is_dataclass(found)
    low, high = found.interval
    assert low <= found.value <= high
    assert isinstance(found.unit, str)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.unit = "apples"


def test_no_metric_was_forgotten():
    functions = {
        name
        for name in metrics.__all__
        if not isinstance(getattr(metrics, name), type) and name not in NO_FIGURES
    }
    assert functions == set(FIGURES)
