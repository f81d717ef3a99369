import json

import pytest
import torch

from voicenym.nets.synthesis.acoustic_model import AcousticModel, Highway
from voicenym.nets.synthesis.acoustic_nsf import AcousticNsf

SMALL = {"content": 6, "speaker": 4, "mels": 10, "width": 16, "channels": 8, "blocks": 2}


def small():
    torch.manual_seed(0)
    return AcousticNsf(**SMALL, convolutions=3).eval()


def inputs(frames):
    generator = torch.Generator().manual_seed(1)
    f0 = torch.full((2, frames), 120.0)
    f0[:, frames // 2 :] = 0
    return (
        torch.randn(2, frames, 6, generator=generator),
        f0,
        torch.randn(2, 4, generator=generator),
        torch.tensor([1, 2]),
    )


@pytest.mark.parametrize("frames", [1, 24])
def test_exact_length_repeatable_and_rebuilt(frames):
    network = small()
    other = AcousticNsf(**json.loads(json.dumps(network.config()))).eval()
    other.load_state_dict(network.state_dict())
    with torch.inference_mode():
        waveform = network(*inputs(frames))
        assert waveform.shape == (2, frames * 160)
        assert torch.equal(other(*inputs(frames)), waveform)


def test_it_says_that_it_does_not_stream():
    with pytest.raises(ValueError, match="as a whole"):
        small().stream(torch.zeros(1, 4))


def test_the_default_sizes_are_those_published():
    with torch.device("meta"):
        network = AcousticNsf()
    assert network.acoustic.layers[0].in_features == 256 + 2 + 512
    assert network.vocoder.conditions.size == 80 + 2 + 512
    assert len(network.vocoder.harmonic_blocks) == 5
    assert len(network.vocoder.noise_block.convs) == 5


def test_a_closed_gate_passes_and_an_open_one_replaces():
    torch.manual_seed(0)
    highway, x = Highway(5), torch.randn(2, 9, 5)
    torch.nn.init.zeros_(highway.gate.weight)
    torch.nn.init.constant_(highway.gate.bias, -50.0)
    torch.testing.assert_close(highway(x), x)
    torch.nn.init.constant_(highway.gate.bias, 50.0)
    changed = torch.tanh(highway.change(x.transpose(1, 2))).transpose(1, 2)
    torch.testing.assert_close(highway(x), changed)


def test_the_acoustic_model_learns_and_speaks_in_the_unit_of_its_mels():
    torch.manual_seed(0)
    model = AcousticModel(6, 4, 10, 16)
    content, f0, speaker, _ = inputs(24)
    mels = -5 + 2 * torch.cat([content, content[:, :, :4]], dim=2)
    model.standardize.fit(mels)
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    losses = []
    for _ in range(120):
        loss = torch.nn.functional.mse_loss(model(content, f0, speaker), mels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(mels.var().item(), rel=0.5)
    assert losses[-1] < 0.2 * losses[0]
