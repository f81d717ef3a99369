"""Short-time Fourier transforms as parts of a network."""

import pytest
import torch

from voicenym.nets.stft import InverseStft, Stft


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("fft", "hop"), [(640, 160), (640, 320), (480, 160), (1024, 256)])
@pytest.mark.parametrize("frames", [1, 2, 25])
def test_the_inverse_takes_the_transform_back(fft, hop, frames):
    signal = noise(2, frames * hop)
    spectra = Stft(fft, hop)(signal)
    assert spectra.shape == (2, frames, fft // 2 + 1)
    back = InverseStft(fft, hop)(spectra)
    # the window's zero falls on no sample that another frame does not cover
    torch.testing.assert_close(back, signal, atol=2e-5, rtol=0)


def test_the_inverse_is_torchs_within():
    fft, hop = 640, 160
    spectra = torch.complex(noise(1, 30, 321), noise(1, 30, 321, seed=1))
    spectra.imag[..., [0, -1]] = 0
    ours = InverseStft(fft, hop)(spectra)
    theirs = torch.istft(spectra.transpose(1, 2), fft, hop, window=torch.hann_window(fft))
    # torch's first sample is the middle of the first frame, ours lies half a hop before it
    half = hop // 2
    inner = ours[:, half + 3 * hop : -3 * hop]
    torch.testing.assert_close(inner, theirs[:, 3 * hop :][:, : inner.shape[1]])


def test_sizes_that_cannot_overlap_are_refused():
    for fft, hop in ((640, 150), (160, 160)):
        with pytest.raises(ValueError, match="multiple"):
            InverseStft(fft, hop)
