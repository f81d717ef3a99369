import itertools
import math

import torch

from voicenym.dsp.pitch.peaks_and_paths import best_path, by_frames, filled, median, peaks


def test_the_cheapest_path_is_the_cheapest():
    generator = torch.Generator().manual_seed(0)
    local = torch.rand(2, 5, 3, generator=generator)
    change = torch.rand(2, 4, 3, 3, generator=generator)

    def cost(row, path):
        steps = sum(change[row, k, path[k], path[k + 1]] for k in range(4))
        return steps + sum(local[row, k, path[k]] for k in range(5))

    found = best_path(local, change).tolist()
    for row in range(2):
        every = itertools.product(range(3), repeat=5)
        assert found[row] == list(min(every, key=lambda path: cost(row, path)))


def test_peaks_lie_between_places_and_apart():
    place = torch.arange(100.0)
    curve = torch.exp(-(((place - 30.3) / 4) ** 2)) + 0.6 * torch.exp(-(((place - 70.8) / 4) ** 2))
    found, height = peaks(curve[None], 11, 3, torch.tensor(0.1))
    torch.testing.assert_close(found[0, :2], torch.tensor([30.3, 70.8]), atol=0.05, rtol=0)
    assert height[0, 0] > 0.95
    assert height[0, 2] == -math.inf
    _, none = peaks(curve[None], 11, 2, torch.tensor(2.0))
    assert (none == -math.inf).all()


def test_medians_gaps_and_parts():
    track = torch.tensor([[1.0, 9.0, 2.0, 3.0, 4.0]])
    assert median(track, 3).tolist() == [[1, 2, 3, 3, 4]]
    known = torch.tensor([[False, True, False, False, True, False]])
    found = filled(torch.tensor([[0.0, 10, 0, 0, 40, 0]]), known, torch.tensor([[25.0]]))
    torch.testing.assert_close(found, torch.tensor([[25.0, 10, 20, 30, 40, 25]]))
    long = torch.randn(3, 5000, 2)
    (sums,) = by_frames(lambda x: (x.sum(-1),), long)
    torch.testing.assert_close(sums, long.sum(-1))
