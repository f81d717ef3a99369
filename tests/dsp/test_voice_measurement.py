import pytest
import torch

from voicenym.dsp.voice_measurement import Reader


@pytest.mark.parametrize("rate", [8_000, 16_000])
@pytest.mark.parametrize("frames", [1, 2, 40])
def test_power_of_frames_is_that_of_windowed_samples(rate, frames):
    reader = Reader(2, rate)
    window, hop = reader._window, reader._hop
    length = len(window) + (frames - 1) * hop
    signal = torch.randn(2, length, generator=torch.Generator().manual_seed(1))
    windowed = signal.unfold(1, len(window), hop).double() * window
    expected = windowed.square().sum(-1) / window.square().sum()
    torch.testing.assert_close(reader._power(signal, frames), expected, rtol=1e-12, atol=0.0)
