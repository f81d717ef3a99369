import torch

from voicenym.dsp.features.cepstra import Cepstra


def bursts(gain: float = 1.0) -> torch.Tensor:
    """Half a second of noise, half of near silence, twice."""
    noise = torch.randn(32_000, generator=torch.Generator().manual_seed(0))
    envelope = torch.tensor([0.1, 1e-5, 0.1, 1e-5]).repeat_interleave(8_000)
    return gain * noise * envelope


def test_only_frames_with_speech_are_kept_at_any_level():
    found = Cepstra()(bursts())
    assert found.shape[1] == Cepstra().dimension == 72
    assert 100 <= len(found) <= 115
    torch.testing.assert_close(Cepstra()(bursts(1e-3)), found, atol=1e-2, rtol=0)


def test_settings_rebuild_it_and_count():
    cepstra = Cepstra(coefficients=13, slopes=1, window=0, variance=True)
    assert Cepstra(**cepstra.settings()) == cepstra
    assert cepstra(bursts()).shape[1] == cepstra.dimension == 26


def test_silence_has_no_content():
    assert Cepstra()(torch.zeros(16_000)).shape == (0, 72)
    assert Cepstra()(torch.zeros(10)).shape == (0, 72)
