import math

import pytest
import torch

from voicenym.nets.streaming import Memory
from voicenym.nets.synthesis import synthesis_losses
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder

RATE = 16_000


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_sizes_that_cannot_overlap_are_refused():
    with pytest.raises(ValueError, match="phase"):
        IstftVocoder(4, 2, excitation="pulse")
    with pytest.raises(ValueError, match="lookahead"):
        IstftVocoder(4, 2, lookahead=7)


@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ({}, 13.5e6, 17e6),
        ({"adaptive": False, "excitation": "none"}, 13.4e6, 14.6e6),
        ({"width": 256, "inner": 768, "blocks": 4}, 1.9e6, 2.9e6),
    ],
    ids=["14 M, adaptive", "14 M", "2 M"],
)
def test_the_number_of_parameters_is_as_stated(options, least, most):
    with torch.device("meta"):
        network = IstftVocoder(256, 192, **options)
    assert least < sum(p.numel() for p in network.parameters()) < most


def test_bfloat16_is_near_and_streams_alike():
    torch.manual_seed(0)
    network = IstftVocoder(4, 2, 32, 96, 3, excitation="filter").eval()
    given = noise(1, 60, 4), torch.full((1, 60), 120.0), noise(1, 2), torch.tensor([1])
    with torch.inference_mode():
        exact = network(*given)
        near = network.use_bfloat16()(*given)
    assert near.dtype == torch.float32
    error = (near - exact).square().mean() / exact.square().mean()
    assert 0 < error < 1e-3  # 30 dB below
    stream = network.stream(given[2], given[3])
    parts = [
        stream.push(c, f) for c, f in zip(given[0].split(7, 1), given[1].split(7, 1), strict=True)
    ]
    torch.testing.assert_close(torch.cat([*parts, stream.flush()], 1), near, atol=1e-3, rtol=1e-2)


def test_lookahead_is_bounded_by_what_was_asked():
    for lookahead in (0, 2, 6):
        network = IstftVocoder(4, 2, 16, 32, 3, lookahead=lookahead, excitation="none").eval()
        assert network.latency == (lookahead + network.inverse.side) * network.hop


def test_the_filter_keeps_the_pitch_before_anything_is_learned():
    torch.manual_seed(0)
    network = IstftVocoder(4, 2, 16, 32, 2, excitation="filter").eval()
    hertz = 160.0
    with torch.inference_mode():
        waveform = network(noise(1, 100, 4), torch.full((1, 100), hertz), noise(1, 2))[0].double()
        breath = network(noise(1, 100, 4), torch.zeros(1, 100), noise(1, 2))[0].double()
    middle = slice(3200, 12_800)
    period = round(RATE / hertz)

    def periodicity(x):
        return ((x[period:] * x[:-period]).sum() / x.square().sum()).item()

    assert periodicity(waveform[middle]) > 0.4  # the rest is noise of like power
    assert abs(periodicity(breath[middle])) < 0.1


def vowel(frames):
    """Pulses of moving pitch through two resonances, and a burst of noise; with its F0."""
    rate = torch.arange(frames) / 100.0
    f0 = 130 + 30 * torch.sin(2 * math.pi * 0.9 * rate)
    f0[frames // 3 : frames // 2] = 0
    phase = torch.cumsum(f0.repeat_interleave(160).double() / RATE, 0)
    hertz = f0.repeat_interleave(160)
    signal = torch.zeros(frames * 160)
    for k in range(1, 30):
        gain = sum(1 / (1 + ((k * hertz - f) / 150) ** 2) for f in (600.0, 1500.0))
        signal += (hertz > 0) * gain * torch.sin(2 * math.pi * (k * phase % 1)).float()
    signal += (hertz == 0) * 0.3 * noise(frames * 160)
    return 0.1 * signal[None], f0[None]


@pytest.mark.parametrize(("excitation", "most"), [("none", 2.0), ("phase", 1.8), ("filter", 0.9)])
def test_it_learns_a_signal_in_seconds(excitation, most):
    torch.manual_seed(0)
    frames = 60
    waveform, f0 = vowel(frames)
    network = IstftVocoder(
        3, 1, 48, 96, 2, fft=320, adaptive=False, excitation=excitation, harmonics=8
    )
    place = torch.arange(frames) / frames
    content = torch.stack([place, torch.sin(9 * place), torch.cos(9 * place)], dim=1)[None]
    resolutions = ((512, 128, 512), (256, 64, 256))
    optimizer = torch.optim.Adam(network.parameters(), 4e-3, betas=(0.8, 0.99))
    found = []
    for step in range(60):
        made = network(content, f0, torch.zeros(1, 1), torch.tensor([step]))
        loss = synthesis_losses.multi_resolution_stft(waveform, made, resolutions)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    assert found[-1] < 0.55 * found[0]
    assert found[-1] < most


@pytest.mark.parametrize("lookahead", [None, 1])
def test_filters_of_some_frames_are_those_of_all(lookahead):
    torch.manual_seed(6)
    sizes = {"width": 8, "inner": 8, "blocks": 3, "kernel": 5}
    network = IstftVocoder(4, 3, **sizes, lookahead=lookahead).eval()
    content, speaker = torch.randn(2, 60, 4), torch.randn(2, 3)
    f0 = torch.where(torch.arange(60) < 40, 120.0, 0.0).repeat(2, 1)
    computed = []
    for block in network.blocks:
        block.register_forward_pre_hook(lambda part, given: computed.append(given[0].shape[1]))
    with torch.inference_mode():
        whole = network.filters(content, f0, speaker)
        for first, end in ((0, 60), (0, 3), (7, 9), (30, 34), (57, 60), (20, 20)):
            computed.clear()
            found = network.filters(content, f0, speaker, slice(first, end))
            torch.testing.assert_close(found, whole[:, first:end], atol=1e-5, rtol=0)
            assert computed == sorted(computed, reverse=True)
    assert computed[-1] <= 4


def test_filters_of_windows_render_the_samples_of_the_whole():
    """Windows with all the context that filters need; the excitation runs through them."""
    torch.manual_seed(5)
    network = IstftVocoder(4, 3, width=8, inner=8, blocks=1, kernel=3).eval()
    content, speaker = torch.randn(1, 40, 4), torch.randn(1, 3)
    f0 = torch.where(torch.arange(40) < 30, 120.0, 0.0)[None]
    seed = torch.tensor([7])
    memory, parts = Memory(), []
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
        for start in range(0, 40, 8):
            first, last = max(0, start - 4), min(40, start + 12)
            found = network.filters(content[:, first:last], f0[:, first:last], speaker)
            own = found[:, start - first : start - first + 8]
            parts.append(network.rendered(own, f0[:, start : start + 8], seed, memory))
            given = sum(part.shape[1] for part in parts)
            assert given == max(0, (start + 8) * network.hop - network.rendering_latency)
        memory.last = True
        empty = found[:, :0]
        parts.append(network.rendered(empty, f0[:, :0], seed, memory))
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=0)
