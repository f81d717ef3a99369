"""Wave-U-Net: the paper's sizes, and equal samples in windows, whole and in a stream."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from voicenym.nets.cloak.geometry import WaveUNetConfig
from voicenym.nets.cloak.stream_state import Flow
from voicenym.nets.cloak.waveunet import WaveUNet

SIZES = [((4, 6, 8, 8), 2, 5), ((4, 6, 8), 3, 5), ((3, 4, 5, 4), 4, 3)]


def network(channels, stride, kernel):
    torch.manual_seed(0)
    net = WaveUNet(WaveUNetConfig(channels, kernel, stride, 6)).eval()
    torch.nn.init.normal_(net.out.weight)
    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            module.running_mean.normal_(0.0, 0.1)
            module.running_var.uniform_(0.5, 2.0)
    return net


@torch.no_grad()
def test_without_throttle_epsilon_changes_no_factor():
    torch.manual_seed(0)
    config = WaveUNetConfig((4, 6, 8), stride=2, voiceprint=6, throttle=False)
    net = WaveUNet(config).eval()
    assert not [name for name in net.state_dict() if name.startswith("throttle")]
    speech, voices, epsilons = processed(net)
    found = net(speech, voices, epsilons)
    torch.testing.assert_close(found, net(speech, voices, 3 * epsilons), rtol=0, atol=0)
    assert (found - net(speech, -voices, epsilons)).abs().max() > 1e-4
    with_throttle = WaveUNet(WaveUNetConfig((4, 6, 8), stride=2, voiceprint=6)).eval()
    one, other = (with_throttle(speech, voices, e) for e in (epsilons, 3 * epsilons))
    assert (one - other).abs().max() > 1e-4


def processed(net, rows=2, samples=400, seed=1):
    generator = torch.Generator().manual_seed(seed)
    length = net.config.input(samples)
    return (
        torch.randn(rows, length, generator=generator),
        torch.randn(rows, 6, generator=generator),
        torch.rand(rows, generator=generator),
    )


@torch.no_grad()
def test_operations_are_those_of_the_convolutions():
    net = network(*SIZES[0])
    steps = 20_000
    with FlopCounterMode(display=False) as counter:
        net(torch.randn(2, steps), torch.zeros(2, 6), torch.ones(2))
    counted = counter.get_total_flops() / 2 / 2  # multiply and add, two rows
    # a pass over a window computes its edges too
    assert counted / steps * 16_000 == pytest.approx(net.config.operations, rel=0.05)


@pytest.mark.parametrize("size", SIZES)
@torch.no_grad()
def test_windows_on_the_grid_give_what_the_whole_gives(size):
    net = network(*size)
    speech, voices, epsilons = processed(net)
    whole = net(speech, voices, epsilons)
    assert whole.shape == (2, net.config.output(speech.shape[1]))
    assert whole.std() > 1e-3
    start = 3 * net.config.grid
    part = net(speech[:, start : start + net.config.input(100)], voices, epsilons)
    assert part.shape[1] >= 100
    torch.testing.assert_close(part, whole[:, start : start + part.shape[1]])


@pytest.mark.parametrize("size", SIZES)
@torch.no_grad()
def test_an_output_hears_its_side_and_no_more(size):
    net = network(*size)
    speech, voices, epsilons = processed(net)
    whole = net(speech, voices, epsilons)
    other = speech.clone()
    place = speech.shape[1] // 2
    other[:, place] += 1.0
    changed = (net(other, voices, epsilons) - whole).abs().amax(0).nonzero()[:, 0]
    # straight lines between the bottleneck's steps carry a sample a step farther at most
    reach, first = net.config.side + net.config.grid, place - net.config.side
    assert first - reach < changed.min()
    assert changed.max() < first + reach


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chunk", [3, 64, 1000])
@torch.no_grad()
def test_a_stream_gives_what_the_whole_gives_and_is_late_as_stated(size, chunk):
    net = network(*size)
    speech, voices, epsilons = processed(net, samples=150)
    whole = net(speech, voices, epsilons)
    factors, flow, parts = net.factors(voices, epsilons), Flow(net.config), []
    pushed = given = 0
    for part in speech.split(chunk, dim=1):
        parts.append(net.run(part, factors, flow))
        pushed, given = pushed + part.shape[1], given + parts[-1].shape[1]
        assert given >= pushed - net.config.side - net.config.latency
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


@torch.no_grad()
def test_target_and_epsilon_change_what_is_given_and_no_target_is_zeros():
    net = network(*SIZES[0])
    speech, voices, epsilons = processed(net)
    plain = net(speech, torch.zeros(2, 6), epsilons)
    assert (net(speech, voices, epsilons) - plain).abs().max() > 1e-4
    # only the direction of a voiceprint counts
    torch.testing.assert_close(net(speech, 7 * voices, epsilons), net(speech, voices, epsilons))
    assert (net(speech, voices, epsilons + 0.05) - net(speech, voices, epsilons)).abs().max() > 1e-5
    # rows do not know each other
    torch.testing.assert_close(
        net(speech[1:], voices[1:], epsilons[1:]), net(speech, voices, epsilons)[1:]
    )


def test_a_step_in_training_moves_every_parameter():
    net = network(*SIZES[0]).train()
    speech, voices, epsilons = processed(net)
    net(speech, voices, epsilons).square().mean().backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name


def test_too_short_a_signal_is_refused():
    net = network(*SIZES[0])
    with pytest.raises(ValueError, match="that an output needs"):
        net(torch.zeros(1, 20), torch.zeros(1, 6), torch.ones(1))
