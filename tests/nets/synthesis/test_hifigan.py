import json

import pytest
import torch
from torch.nn import functional

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis.hifigan import HifiGan
from voicenym.nets.synthesis.hifigan_generator import Generator, GeneratorSize
from voicenym.nets.weights.weight_norm import plain, published


def config(size):
    """The part of a published config.json that describes the generator."""
    return {
        "resblock": "1" if size.two_convolutions else "2",
        "upsample_rates": list(size.rates),
        "upsample_kernel_sizes": list(size.kernels),
        "upsample_initial_channel": size.channels,
        "resblock_kernel_sizes": list(size.block_kernels),
        "resblock_dilation_sizes": [list(d) for d in size.block_dilations],
        "num_mels": 80,
        "sampling_rate": 22050,
    }


def random_state(inputs, size, seed=0):
    """A state as the published training writes it, name by name."""
    generator = torch.Generator().manual_seed(seed)
    state = {}

    def conv(name, outputs, of_input, kernel, transposed=False):
        shape = (of_input, outputs, kernel) if transposed else (outputs, of_input, kernel)
        state[f"{name}.bias"] = 0.1 * torch.randn(outputs, generator=generator)
        lengths = torch.rand(shape[0], 1, 1, generator=generator)
        state[f"{name}.weight_g"] = (0.3 + lengths) * (1.5 if transposed else 1.0)
        state[f"{name}.weight_v"] = torch.randn(shape, generator=generator)

    conv("conv_pre", size.channels, inputs, 7)
    channels = size.channels
    for i, kernel in enumerate(size.kernels):
        conv(f"ups.{i}", channels // 2, channels, kernel, transposed=True)
        channels //= 2
        for j, of_block in enumerate(size.block_kernels):
            block = f"resblocks.{len(size.block_kernels) * i + j}"
            for d in range(len(size.block_dilations[j])):
                for part in ("convs1", "convs2") if size.two_convolutions else ("convs",):
                    conv(f"{block}.{part}.{d}", channels, channels, of_block)
    conv("conv_post", 1, channels, 7)
    return state


def plain_forward(x, state, size):
    """HiFi-GAN as the paper's appendix writes it, with nothing of ours."""

    def weight(name):
        v = state[f"{name}.weight_v"].double()
        g = state[f"{name}.weight_g"].double()
        return g * v / v.flatten(1).norm(dim=1)[:, None, None]

    def bias(name):
        return state[f"{name}.bias"].double()

    def conv(name, x, dilation=1):
        w = weight(name)
        padding = dilation * (w.shape[2] - 1) // 2
        return functional.conv1d(x, w, bias(name), padding=padding, dilation=dilation)

    x = conv("conv_pre", x.double())
    for i, (rate, kernel) in enumerate(zip(size.rates, size.kernels, strict=True)):
        x = functional.conv_transpose1d(
            functional.leaky_relu(x, 0.1),
            weight(f"ups.{i}"),
            bias(f"ups.{i}"),
            stride=rate,
            padding=(kernel - rate) // 2,
        )
        total = torch.zeros_like(x)
        for j, dilations in enumerate(size.block_dilations):
            name = f"resblocks.{len(size.block_kernels) * i + j}"
            y = x
            for d, dilation in enumerate(dilations):
                if size.two_convolutions:
                    z = conv(f"{name}.convs1.{d}", functional.leaky_relu(y, 0.1), dilation)
                    z = conv(f"{name}.convs2.{d}", functional.leaky_relu(z, 0.1))
                else:
                    z = conv(f"{name}.convs.{d}", functional.leaky_relu(y, 0.1), dilation)
                y = y + z
            total = total + y
        x = total / len(size.block_kernels)
    return torch.tanh(conv("conv_post", functional.leaky_relu(x, 0.01)))[:, 0]


SMALL = {
    "v1": GeneratorSize((4, 3, 2), channels=24, block_dilations=((1, 3), (1, 3), (1, 3))),
    "v3": GeneratorSize(
        (5, 4),
        channels=16,
        two_convolutions=False,
        block_kernels=(3, 5, 7),
        block_dilations=((1, 2), (2, 6), (3, 12)),
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_published_checkpoint_computes_what_the_paper_says(name):
    size = SMALL[name]
    state = random_state(10, size)
    settings = json.loads(json.dumps(config(size)))
    generator = Generator.from_published({**state}, settings, "g_00100000")
    frames = torch.randn(2, 10, 30, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        ours = generator(frames)
    theirs = plain_forward(frames, state, size)
    assert ours.shape == (2, 30 * size.hop)
    assert theirs.std() > 0.02
    torch.testing.assert_close(ours.double(), theirs, atol=1e-5, rtol=0)


def test_the_published_layout_goes_out_as_it_came_in():
    size = SMALL["v1"]
    state = random_state(10, size)
    generator = Generator(10, size)
    generator.load_state_dict(plain(state))
    again = published(generator)
    assert again.keys() == state.keys()
    for name, value in plain(again).items():
        torch.testing.assert_close(value, plain(state)[name])
    trained = Generator(10, size, weight_norm=True)
    assert published(trained).keys() == state.keys()
    # lengths are not unit: the layout keeps them apart from the directions
    for name, value in published(trained).items():
        assert value.shape == state[name].shape


@pytest.mark.parametrize(
    ("size", "count", "tensors"),
    [
        (GeneratorSize.v1(), 13_936_130, 234),
        (GeneratorSize.v2(), 928_514, 234),
        (GeneratorSize.v3(), 1_464_322, 69),
    ],
    ids=["v1", "v2", "v3"],
)
def test_sizes_are_the_papers(size, count, tensors):
    with torch.device("meta"):
        generator = Generator(80, size, weight_norm=True)
    assert size.hop == 256
    assert sum(p.numel() for p in generator.parameters()) == count
    assert len(generator.state_dict()) == tensors


@pytest.mark.parametrize("hop", [160, 256, 320])
def test_the_pipelines_hops(hop):
    assert GeneratorSize.v1(hop).hop == GeneratorSize.v3(hop).hop == hop
    if hop == 160:  # SSL-SAS
        assert GeneratorSize.v1(hop).kernels == (11, 8, 4, 4, 4)
        with torch.device("meta"):
            network = HifiGan(200, 192)
        assert network.generator.conv_pre.in_channels == 393


def test_wrong_files_are_refused_with_the_cure():
    size = SMALL["v1"]
    state = random_state(10, size)
    with pytest.raises(VoicenymError, match=r"config\.json: of another architecture"):
        Generator.from_published(state, config(SMALL["v3"]), "g")
    with pytest.raises(VoicenymError, match="upsample_rates"):
        Generator.from_published(state, {"num_mels": 80}, "g")
    with pytest.raises(VoicenymError, match="no HiFi-GAN generator"):
        Generator.from_published({"weight": torch.zeros(1)}, config(size), "other")
    with pytest.raises(VoicenymError, match="10 elements"):
        HifiGan.from_published(state, config(size), "g", 5, 3)


def test_a_published_generator_under_its_conditions():
    size = SMALL["v1"]
    network = HifiGan.from_published(random_state(10, size), config(size), "g", 6, 3)
    assert network.rate == 22_050
    content, f0, speaker = torch.randn(1, 9, 6), torch.rand(1, 9), torch.randn(1, 3)
    frames = torch.cat([content, f0[:, :, None], speaker[:, None].expand(-1, 9, -1)], 2)
    with torch.inference_mode():
        waveform = network(content, f0, speaker)
        torch.testing.assert_close(waveform, network.generator(frames.transpose(1, 2)))
