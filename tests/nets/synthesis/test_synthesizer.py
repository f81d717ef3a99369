"""What all synthesis networks obey."""

import math

import pytest
import torch

from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import GeneratorSize
from voicenym.nets.synthesis.hifigan_nsf import HifiGanNsf
from voicenym.nets.synthesis.istft_vocoder import IstftVocoder
from voicenym.nets.synthesis.synthesizer import Conditions

CONTENT, SPEAKER = 12, 6
V3 = GeneratorSize(
    (8, 5, 4),
    channels=32,
    two_convolutions=False,
    block_kernels=(3, 5),
    block_dilations=((1, 2), (2, 6)),
)


def istft(**options):
    return IstftVocoder(CONTENT, SPEAKER, width=16, inner=32, blocks=2, **options)


NETWORKS = {
    "istft none": lambda: istft(excitation="none"),
    "istft phase": lambda: istft(excitation="phase"),
    "istft filter": lambda: istft(excitation="filter"),
    "istft causal": lambda: istft(excitation="filter", lookahead=0),
    "istft ahead": lambda: istft(excitation="phase", lookahead=3, adaptive=False),
    "istft 50 Hz": lambda: istft(excitation="filter", fft=640, hop=320),
    "hifigan": lambda: HifiGan(CONTENT, SPEAKER, GeneratorSize((5, 4, 2, 2, 2), channels=32)),
    "hifigan v3": lambda: HifiGan(CONTENT, SPEAKER, V3, pitch="table", width=5, weight_norm=True),
    "hifigan nsf": lambda: HifiGanNsf(CONTENT, SPEAKER, GeneratorSize((5, 4, 4, 2), channels=32)),
}


@pytest.fixture(params=NETWORKS)
def network(request):
    torch.manual_seed(0)
    network = NETWORKS[request.param]().eval()
    for name, parameter in network.named_parameters():
        # louder than at first, so that differences show
        if "weight" in name and parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.6 / math.sqrt(parameter[0].numel()))
    return network


def inputs(frames=40, rows=2):
    generator = torch.Generator().manual_seed(1)
    f0 = 80 + 200 * torch.rand(rows, frames, generator=generator)
    f0[:, frames // 3 : frames // 2] = 0
    content = torch.randn(rows, frames, CONTENT, generator=generator)
    speaker = torch.randn(rows, SPEAKER, generator=generator)
    return content, f0, speaker, torch.arange(7, 7 + rows)


@pytest.mark.parametrize("frames", [1, 2, 33])
def test_a_waveform_is_exactly_as_long_as_its_frames(network, frames):
    content, f0, speaker, seed = inputs(frames)
    with torch.inference_mode():
        waveform = network(content, f0, speaker, seed)
    assert waveform.shape == (2, frames * network.hop)
    assert waveform.isfinite().all()
    assert waveform.std() > 0


def test_a_network_is_rebuilt_from_its_configuration(network):
    import json

    other = type(network)(**json.loads(json.dumps(network.config()))).eval()
    from voicenym.nets.weights.weight_norm import fold

    fold(network)
    other.load_state_dict(network.state_dict())
    with torch.inference_mode():
        assert torch.equal(network(*inputs()), other(*inputs()))


@pytest.mark.parametrize("sizes", [[1], [3, 8], [13], [40]], ids=str)
def test_blocks_equal_the_whole(network, sizes):
    content, f0, speaker, seed = inputs()
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
    stream = network.stream(speaker, seed)
    parts, start = [], 0
    while start < f0.shape[1]:
        stop = start + sizes[len(parts) % len(sizes)]
        parts.append(stream.push(content[:, start:stop], f0[:, start:stop]))
        start = min(stop, f0.shape[1])
        given = sum(part.shape[1] for part in parts)
        assert given == max(0, start * network.hop - stream.latency)
    parts.append(stream.flush())
    torch.testing.assert_close(
        torch.cat(parts, 1), whole, atol=2e-5 * whole.std().item(), rtol=1e-4
    )


def test_nothing_beyond_the_latency_has_an_effect(network):
    content, f0, speaker, seed = inputs()
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
        content[:, 20:] += 1.0
        changed = network(content, f0, speaker, seed)
    safe = 20 * network.hop - network.latency
    if safe > 0:
        torch.testing.assert_close(changed[:, :safe], whole[:, :safe], rtol=1e-4, atol=1e-6)
    assert not torch.allclose(changed, whole)


def test_rows_do_not_touch_each_other_and_repeat(network):
    content, f0, speaker, seed = inputs()
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
        assert torch.equal(network(content, f0, speaker, seed), whole)
        alone = network(content[1:], f0[1:], speaker[1:], seed[1:])
        other = network(content, f0, speaker, seed + 1)
    torch.testing.assert_close(alone[0], whole[1], atol=2e-5 * whole.std().item(), rtol=1e-4)
    assert torch.equal(other, whole) != network.noisy


def test_content_pitch_and_speaker_all_change_the_output(network):
    content, f0, speaker, seed = inputs()
    with torch.inference_mode():
        whole = network(content, f0, speaker, seed)
        for changed in (
            network(content + 1, f0, speaker, seed),
            network(content, 1.3 * f0, speaker, seed),
            network(content, f0, speaker + 1, seed),
        ):
            assert (changed - whole).std() > 1e-3 * whole.std()


def test_shapes_that_do_not_fit_and_training_without_seeds_are_refused(network):
    content, f0, speaker, _ = inputs()
    with pytest.raises(ValueError, match="do not fit"):
        network(content[:, 1:], f0, speaker)
    network.train()
    if network.noisy:
        with pytest.raises(ValueError, match="seeds"):
            network(content, f0, speaker)
    else:
        network(content, f0, speaker)


def test_networks_train_in_bfloat16(network):
    content, f0, speaker, seed = inputs(12)
    network.train()
    with torch.autocast("cpu", torch.bfloat16):
        waveform = network(content, f0, speaker, seed)
    waveform.float().square().mean().backward()
    assert waveform.isfinite().all()
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    assert len(gradients) > 0.9 * len(list(network.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_conditions_come_in_the_published_order():
    content, f0, speaker, _ = inputs(rows=2)
    frames = Conditions(CONTENT, SPEAKER, "hertz")(content, f0, speaker)
    assert frames.shape == (2, 40, CONTENT + 1 + SPEAKER)
    assert torch.equal(frames[:, :, :CONTENT], content)
    assert torch.equal(frames[:, :, CONTENT], f0)
    assert torch.equal(frames[:, 7, CONTENT + 1 :], speaker)


def test_octaves_and_the_table_of_pitches():
    f0 = torch.tensor([[0.0, 150.0, 300.0, 75.0]])
    none = torch.zeros(1, 4, 0), f0, torch.zeros(1, 0)
    octaves = Conditions(0, 0, "log")(*none)
    assert octaves[0].tolist() == [[0, 0], [0, 1], [1, 1], [-1, 1]]
    table = Conditions(0, 0, "table", 4)
    hertz = torch.tensor([[0.0, 100.0, 100 * 2 ** (1 / 48), 100 * 2 ** (1 / 24), 1e4, 600.0]])
    none = torch.zeros(1, 6, 0), hertz, torch.zeros(1, 0)
    vectors = table(*none)[0]
    assert torch.equal(vectors[0], table.table.weight[0])
    torch.testing.assert_close(vectors[1], table.table.weight[25], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(vectors[2], (vectors[1] + vectors[3]) / 2, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(vectors[4], vectors[5])
    with pytest.raises(ValueError, match="hertz"):
        Conditions(1, 1, "bark")
