import math
from itertools import pairwise

import numpy
import pytest
import torch

from voicenym.dsp.features.fbank import Fbank, frames_of, htk, htk_inverse, triangles


def plain(signal, bands):
    """The published energies, frame by frame and filter by filter, in double precision."""
    window = 0.54 - 0.46 * numpy.cos(2 * numpy.pi * numpy.arange(400) / 400)
    padded = numpy.concatenate([numpy.zeros(200), signal, numpy.zeros(200)])
    top = 2595 * math.log10(1 + 8000 / 700)
    places = [700 * (10 ** (m * top / (bands + 1) / 2595) - 1) for m in range(bands + 2)]
    rows = []
    for start in range(0, len(padded) - 399, 160):
        power = abs(numpy.fft.rfft(padded[start : start + 400] * window)) ** 2
        row = []
        for below, centre in pairwise(places[:-1]):
            weights = [
                max(0, min((40 * k - below), (2 * centre - below - 40 * k)) / (centre - below))
                for k in range(201)
            ]
            row.append(10 * math.log10(max(1e-10, numpy.dot(weights, power))))
        rows.append(row)
    found = numpy.array(rows)
    return numpy.maximum(found, found.max() - 80)


@pytest.mark.parametrize("bands", [24, 80])
def test_equals_the_published_energies_computed_plainly(bands):
    rng = numpy.random.default_rng(0)
    signal = 0.1 * rng.standard_normal(2_400)
    signal[1_000:] *= 1e-6  # so that the range of 80 dB shows
    found = Fbank(bands)(torch.from_numpy(signal).float()[None])[0]
    numpy.testing.assert_allclose(found, plain(signal, bands), atol=1e-3)


def test_mels_are_those_of_the_formula():
    assert htk(700.0) == pytest.approx(2595 * math.log10(2))
    torch.testing.assert_close(
        htk_inverse(torch.tensor(htk(1234.5))), torch.tensor(1234.5), rtol=1e-5, atol=0
    )


def test_triangles_are_of_height_one_and_symmetric():
    bank = triangles(24)
    assert bank.shape == (24, 201)
    assert bank.max() <= 1.0
    upper = bank[-1].nonzero()[:, 0]
    # The last would reach beyond half the rate if it were as wide as its upper neighbour's place.
    assert upper[-1] < 200
    middle = (upper[0] + upper[-1]) / 2 * 40
    places = htk_inverse(torch.linspace(0, htk(8000.0), 26, dtype=torch.float64))
    assert abs(float(middle - places[-2])) <= 20


def test_a_shorter_row_has_the_frames_that_it_has_alone():
    fbank = Fbank(24)
    generator = torch.Generator().manual_seed(0)
    long, short = torch.randn(5_000, generator=generator), torch.randn(2_080, generator=generator)
    # A loud end: the frame after the last would be the loudest if it counted.
    short[-30:] *= 1e3
    both = torch.nn.utils.rnn.pad_sequence([long, short], batch_first=True)
    lengths = torch.tensor([5_000, 2_080])
    assert frames_of(lengths).tolist() == [32, 14]
    found = fbank(both, lengths)
    torch.testing.assert_close(found[0], fbank(long[None])[0], rtol=0, atol=1e-4)
    torch.testing.assert_close(found[1, :14], fbank(short[None])[0], rtol=0, atol=1e-4)


def test_gradients_reach_the_waveform():
    fbank = Fbank(24).double()
    generator = torch.Generator().manual_seed(0)
    signal = torch.randn(1, 480, generator=generator, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(fbank, (signal,), fast_mode=True)
    silence = torch.zeros(1, 480, requires_grad=True)
    fbank.float()(silence).sum().backward()
    assert torch.isfinite(silence.grad).all()
