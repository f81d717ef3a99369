"""Second speakers are the nearest others; the detector does not depend on blocks."""

import numpy as np
import torch

from voicenym.diarization.overlaps import second_speakers
from voicenym.nets.activity.overlap_detector import FRAME, OverlapDetector, OverlapProbabilities


def test_the_nearest_other_speaker_is_the_second():
    labels = np.repeat([0, 1, 2, -1, 1], 50)
    overlap = np.zeros(125)
    overlap[[18, 19, 20, 21, 22, 23, 24, 45, 46, 47, 48, 49, 80, 110]] = 0.99
    overlap[60:66] = 0.99
    found = second_speakers(labels, overlap)
    assert set(found[36:50]) == {1}  # before speaker 1 begins
    assert set(found[90:100]) == {2}
    assert set(found[120:132]) == {1}
    assert set(found[150:200]) == {-1}  # no speech there
    assert set(found[200:]) == {-1}  # too short


def test_one_speaker_has_no_second():
    labels = np.zeros(100, dtype=np.int64)
    assert (second_speakers(labels, np.ones(50)) == -1).all()


def test_probabilities_do_not_depend_on_the_blocks():
    torch.manual_seed(0)
    network = OverlapDetector(8).eval()
    signal = torch.randn(20 * 16_000 + 77)

    def run(size):
        detector = OverlapProbabilities(network)
        for part in signal.split(size):
            detector.push(part)
        return detector.result()

    whole = run(len(signal))
    assert len(whole) == -(-len(signal) // FRAME)
    for size in (1000, 16_000, 7 * 16_000 + 3):
        assert torch.allclose(run(size), whole, atol=1e-5)
