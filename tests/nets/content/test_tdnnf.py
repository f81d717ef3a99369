"""TDNN-F: the constraint, the padding, the reach, and layers against plain sums."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.content.content_encoders import load, make, save
from voicenym.nets.content.tdnnf import BYPASS, Factorised, SemiOrthogonal, TdnnF, TdnnFConfig

TINY = {"size": 6, "bands": 10, "width": 12, "narrow": 4, "strides": [1, 0, 3]}
SPARSE = {**TINY, "strides": [1, 0, 1], "every": 4}


@pytest.fixture(params=[TINY, SPARSE], ids=["a frame every 10 ms", "every 40 ms"])
def network(request):
    torch.manual_seed(0)
    network = TdnnF(**request.param)
    network.train()
    for seed in range(3):  # statistics of its batch normalisation
        network(noise(4, 16_000, seed=seed))
    return network.eval()


def noise(*shape, seed=9):
    return 0.1 * torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(8, 4, 3), (4, 8, 2), (20, 6, 1), (5, 5, 1)])
def test_steps_lead_to_a_semi_orthogonal_matrix(shape):
    torch.manual_seed(0)
    layer = SemiOrthogonal(*shape)
    with torch.no_grad():
        layer.weight.normal_().mul_(3.0)
    errors = [layer.error()]
    for _ in range(25):
        layer.constrain()
        errors.append(layer.error())
    assert errors[0] > 0.1
    assert errors[-1] < 1e-5
    matrix = layer.weight.detach().flatten(1)
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    scale = product.diagonal().mean()
    torch.testing.assert_close(product / scale, torch.eye(len(product)), atol=1e-4, rtol=0)


def test_near_the_constraint_the_error_is_squared():
    torch.manual_seed(0)
    layer = SemiOrthogonal(16, 6)
    torch.nn.init.orthogonal_(layer.weight)
    with torch.no_grad():
        layer.weight.add_(0.01 * torch.randn_like(layer.weight))
    before = layer.error()
    layer.constrain()
    assert layer.error() < 2.0 * before**2


def test_a_semi_orthogonal_matrix_of_any_length_stays():
    layer = SemiOrthogonal(16, 6)
    torch.nn.init.orthogonal_(layer.weight, gain=3.7)
    kept = layer.weight.detach().clone()
    layer.constrain()
    torch.testing.assert_close(layer.weight.detach(), kept)
    with torch.no_grad():
        layer.weight.zero_()
    layer.constrain()
    assert not layer.weight.any()


def test_a_layer_is_the_sums_of_its_taps(network):
    layer = Factorised(TdnnFConfig(**TINY), 3).eval()
    x = noise(1, 11, 12)
    mask = torch.ones(1, 11, dtype=torch.bool)
    found = layer(x, mask)[0]
    back, now = layer.narrow.weight.unbind(2)
    here, ahead = layer.widen.weight.unbind(2)
    zeros = torch.zeros(12)

    def inner(t):
        before = x[0, t - 3] if t >= 3 else zeros
        return back @ before + now @ x[0, t] if t < 11 else torch.zeros(4)

    scale = (1.0 + layer.norm.eps) ** -0.5
    for t in range(11):
        y = torch.relu(here @ inner(t) + ahead @ inner(t + 3) + layer.widen.bias) * scale
        torch.testing.assert_close(found[t], BYPASS * x[0, t] + y, atol=1e-6, rtol=1e-5)


def test_a_row_is_what_it_is_alone(network):
    batch, lengths = noise(3, 8_000), torch.tensor([8_000, 3_333, 100])
    found = network(batch, lengths)
    assert found.shape == (3, network.frames_of(8_000), 6)
    for i, length in enumerate(lengths.tolist()):
        alone = network(batch[i : i + 1, :length])[0]
        torch.testing.assert_close(found[i, : len(alone)], alone, atol=1e-5, rtol=1e-4)
        assert not found[i, len(alone) :].any()


def test_statistics_do_not_count_padding():
    batch, lengths = noise(2, 3_200), torch.tensor([3_200, 1_600])
    states = []
    for padding in (0, 4_800):
        torch.manual_seed(0)
        network = TdnnF(**{**TINY, "dropout": 0.0}).train()
        network(torch.nn.functional.pad(batch, (0, padding)), lengths)
        states.append(network.state_dict())
    torch.testing.assert_close(states[0], states[1])


def test_nothing_beyond_its_reach_has_an_effect(network):
    signal = noise(1, 16_000).requires_grad_()
    frame = 50 // network.sizes.every
    network(signal)[0, frame].square().sum().backward()
    received = torch.nonzero(signal.grad[0])[:, 0]
    # of a frame of 40 ms, the third of its four frames of 10 ms is kept
    start = frame * network.hop + network.sizes.every // 2 * 160
    stop = start + 160
    # the window's first sample has no weight
    assert start - network.reach <= received.min() <= start - network.reach + 2
    assert stop + network.reach - 2 <= received.max() + 1 <= stop + network.reach


def test_windows_and_streams_equal_the_whole(network):
    signal = noise(1, 30_000)
    whole = network(signal)
    network.most_samples, network.context = 8_000, 1_920
    assert network.context >= network.reach
    torch.testing.assert_close(network.extract(signal[0]), whole[0], atol=1e-5, rtol=1e-4)
    stream = network.stream()
    parts = [stream.push(block) for block in signal.split(1_234, 1)]
    found = torch.cat([*parts, stream.flush()], 1)
    torch.testing.assert_close(found, whole, atol=1e-5, rtol=1e-4)


def test_the_default_is_the_published_size():
    network = TdnnF()
    assert network.size == 256
    assert len(network.layers) == 16  # seventeen with the first
    assert network.layers[5].narrow.weight.shape == (160, 1536, 2)
    assert network.reach < 16_000 // 2


def test_a_folder_holds_it(network, tmp_path):
    pytest.importorskip("safetensors")
    save(network, tmp_path)
    again = load(tmp_path)
    assert again.config() == network.config()
    torch.testing.assert_close(again(noise(1, 2_000)), network(noise(1, 2_000)), rtol=0, atol=0)
    assert make("tdnnf", network.config()).size == 6


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="strides must not be negative"):
        TdnnF(strides=[-1])
    with pytest.raises(ValueError, match="one of the strides is 0"):
        TdnnF(strides=[1, 3], every=4)
