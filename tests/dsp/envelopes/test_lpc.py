from __future__ import annotations

import pytest
import torch

from voicenym.dsp.envelopes import lpc


def test_levinson_finds_the_filter_that_made_the_signal():
    generator = torch.Generator().manual_seed(1)
    truth = torch.tensor([1.0, -1.3, 0.8], dtype=torch.float64)
    noise = torch.randn(20000, 1, generator=generator, dtype=torch.float64)
    signal = lpc.synthesize(noise, truth[:, None])
    a, error = lpc.levinson(lpc.autocorrelation(signal, 2))
    torch.testing.assert_close(a[:, 0], truth, atol=0.03, rtol=0)
    assert 0 < error.item() < 1


@pytest.mark.parametrize(("length", "order"), [(320, 20), (160, 20), (33, 30), (8, 2)])
def test_autocorrelation_is_the_sum_of_products(length, order):
    frames = torch.randn(length, 300, generator=torch.Generator().manual_seed(5))
    r = lpc.autocorrelation(frames, order)
    x = frames.double()
    expected = torch.stack([(x[: length - lag] * x[lag:]).sum(0) for lag in range(order + 1)])
    torch.testing.assert_close(r, expected / expected[0], atol=2.0**-33 + 1e-12, rtol=0)


def test_autocorrelation_of_no_frames_is_empty():
    assert lpc.autocorrelation(torch.zeros(320, 0), 20).shape == (21, 0)


def test_levinson_solves_the_normal_equations():
    frames = torch.randn(320, 7, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    order = 20
    r = lpc.autocorrelation(frames, order)
    a, _ = lpc.levinson(r)
    for column in range(7):
        row = torch.cat([r[1:-1, column].flip(0), r[:-1, column]])
        matrix = row.unfold(0, order, 1).flip(0)
        expected = torch.linalg.solve(matrix, -r[1:, column])
        torch.testing.assert_close(a[1:, column], expected, atol=1e-6, rtol=1e-6)


def test_predictors_of_a_frame_do_not_depend_on_its_company():
    frames = torch.randn(320, 37, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    r = lpc.autocorrelation(frames, 20)
    together = torch.cat([x.reshape(-1, 37) for x in lpc.levinson(r)])
    for column in (0, 5, 36):
        alone = lpc.levinson(r[:, column : column + 1].contiguous())
        assert torch.equal(torch.cat([x.reshape(-1) for x in alone]), together[:, column])


def test_the_error_is_what_is_left_of_the_energy():
    frames = torch.randn(320, 5, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    r = lpc.autocorrelation(frames, 8)
    a, error = lpc.levinson(r)
    padded = torch.nn.functional.pad(frames, (0, 0, 0, 8))
    left = lpc.whiten(padded, a).square().sum(0) / frames.square().sum(0)
    torch.testing.assert_close(error, left, rtol=1e-6, atol=0)


def test_synthesize_undoes_whiten():
    generator = torch.Generator().manual_seed(3)
    frames = torch.randn(320, 5, generator=generator, dtype=torch.float64)
    a, _ = lpc.levinson(lpc.autocorrelation(frames, 12))
    torch.testing.assert_close(lpc.synthesize(lpc.whiten(frames, a), a), frames)


def test_whiten_and_synthesize_write_to_the_given_output():
    generator = torch.Generator().manual_seed(3)
    frames = torch.randn(320, 5, generator=generator, dtype=torch.float64)
    a, _ = lpc.levinson(lpc.autocorrelation(frames, 12))
    place = torch.full((320, 9), 7.0, dtype=torch.float64)
    lpc.whiten(frames, a, out=place[:, 2:7])
    assert torch.equal(place[:, 2:7], lpc.whiten(frames, a))
    lpc.synthesize_(place[:, 2:7], a)
    torch.testing.assert_close(place[:, 2:7], frames)
    assert (place[:, [0, 1, 7, 8]] == 7.0).all()


def test_silent_frames_give_a_neutral_filter():
    a, _ = lpc.levinson(lpc.autocorrelation(torch.zeros(320, 2, dtype=torch.float64), 8))
    assert torch.equal(a[1:], torch.zeros(8, 2, dtype=torch.float64))


def test_result_of_a_frame_does_not_depend_on_its_company():
    frames = torch.randn(320, 37, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    together = lpc.autocorrelation(frames, 20)
    for column in (0, 5, 36):
        alone = lpc.autocorrelation(frames[:, column : column + 1].contiguous(), 20)
        assert torch.equal(alone[:, 0], together[:, column])
