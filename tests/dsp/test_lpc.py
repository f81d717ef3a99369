from __future__ import annotations

import torch

from voicenym.dsp import lpc


def test_levinson_finds_the_filter_that_made_the_signal():
    generator = torch.Generator().manual_seed(1)
    truth = torch.tensor([1.0, -1.3, 0.8], dtype=torch.float64)
    noise = torch.randn(20000, 1, generator=generator, dtype=torch.float64)
    signal = lpc.synthesize(noise, truth[:, None])
    a, error = lpc.levinson(lpc.autocorrelation(signal, 2))
    torch.testing.assert_close(a[:, 0], truth, atol=0.03, rtol=0)
    assert 0 < error.item() < 1


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


def test_synthesize_undoes_whiten():
    generator = torch.Generator().manual_seed(3)
    frames = torch.randn(320, 5, generator=generator, dtype=torch.float64)
    a, _ = lpc.levinson(lpc.autocorrelation(frames, 12))
    torch.testing.assert_close(lpc.synthesize(lpc.whiten(frames, a), a), frames)


def test_silent_frames_give_a_neutral_filter():
    a, _ = lpc.levinson(lpc.autocorrelation(torch.zeros(320, 2, dtype=torch.float64), 8))
    assert torch.equal(a[1:], torch.zeros(8, 2, dtype=torch.float64))


def test_result_of_a_frame_does_not_depend_on_its_company():
    frames = torch.randn(320, 37, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    together = lpc.autocorrelation(frames, 20)
    for column in (0, 5, 36):
        alone = lpc.autocorrelation(frames[:, column : column + 1].contiguous(), 20)
        assert torch.equal(alone[:, 0], together[:, column])
