import torch

from voicenym.nets.synthesis.hifigan_generator import GeneratorSize
from voicenym.nets.synthesis.hifigan_nsf import HifiGanNsf, Source

RATE = 16_000


def test_the_source_is_a_merged_harmonic_signal_within_one():
    torch.manual_seed(0)
    source = Source(RATE, 160)
    f0 = torch.full((1, 100), 150.0)
    signal = source(f0, torch.tensor([1]))[0, 0].detach()
    assert signal.shape == (RATE,)
    assert signal.abs().max() <= 1
    spectrum = torch.fft.rfft(signal - signal.mean()).abs()  # a second: bins of 1 Hz
    near = torch.zeros_like(spectrum, dtype=torch.bool)
    for harmonic in range(1, 50):
        near[150 * harmonic - 2 : 150 * harmonic + 3] = True
    assert spectrum[near].square().sum() > 0.95 * spectrum.square().sum()


def test_pitch_reaches_the_waveform_through_the_source():
    # content, F0 and speaker silenced at the entrance: what is left comes from the source
    torch.manual_seed(0)
    network = HifiGanNsf(4, 3, GeneratorSize((5, 4, 4, 2), channels=32), pitch="log").eval()
    for name, parameter in network.named_parameters():
        if "bias" in name:
            torch.nn.init.zeros_(parameter)
        elif parameter.ndim == 3:
            torch.nn.init.normal_(parameter, std=1.0 / parameter[0].numel() ** 0.5)
    torch.nn.init.zeros_(network.generator.conv_pre.weight)
    hertz = 200.0
    f0 = torch.full((1, 100), hertz)
    with torch.inference_mode():
        waveform = network(torch.randn(1, 100, 4), f0, torch.randn(1, 3), torch.tensor([5]))
    middle = waveform[0, 3200:12800].double()
    middle = middle - middle.mean()
    period = round(RATE / hertz)
    correlation = (middle[period:] * middle[:-period]).sum() / middle.square().sum()
    assert correlation > 0.9
    half = period // 2
    assert (middle[half:] * middle[:-half]).sum() / middle.square().sum() < 0.7


def test_the_published_number_of_inputs():
    with torch.device("meta"):
        network = HifiGanNsf()
    assert network.generator.conv_pre.in_channels == 256 + 1 + 512
    assert network.hop == 160
    assert network.m_source.l_linear.in_features == 8
    names = {name.split(".")[0] for name in network.state_dict()}
    assert names == {"generator", "m_source", "noise_convs"}
