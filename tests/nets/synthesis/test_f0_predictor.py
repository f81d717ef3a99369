"""F0 predictor: shapes, padding, the random contours, and draws from the distribution."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.synthesis.f0_predictor import (
    FARTHEST,
    F0Predictor,
    load,
    save,
)

TINY = {"content": 6, "every": 4, "width": 16, "inner": 24, "blocks": 2, "kernel": 5}
SEEDS = torch.tensor([3, 4])
MEAN, STD = torch.tensor([5.0, 4.7]), torch.tensor([0.2, 0.3])


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    made = F0Predictor(**TINY)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(0.2 * torch.randn(value.shape))
    return made.eval()


def test_a_row_depends_on_nothing_behind_its_end(network):
    content = torch.randn(2, 30, 6, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        together = network(content, torch.tensor([30, 12]))
        alone = network(content[1:, :12])
    assert together.mean.shape == (2, 120)
    for one, other in zip(together, alone, strict=True):
        torch.testing.assert_close(one[1, :48], other[0])
    assert (together.deviation > 0).all()


@torch.inference_mode()
def test_draws_follow_the_distribution_and_the_target_voice(network):
    content = torch.randn(1, 50, 6, generator=torch.Generator().manual_seed(2))
    many = torch.arange(400)
    rows = content.expand(400, -1, -1)
    f0 = network.drawn(rows, MEAN[:1].expand(400), STD[:1].expand(400), many)
    found = network(content)
    voiced = found.voicing[0] > 0
    assert 0 < voiced.sum() < len(voiced)
    assert ((f0 > 0) == voiced).all()
    z = (f0[:, voiced].log() - MEAN[0]) / STD[0]
    inside = (found.mean[0, voiced].abs() + 2.5 * found.deviation[0, voiced]) < FARTHEST
    assert inside.any()
    centre = found.mean[0, voiced][inside]
    spread = found.deviation[0, voiced][inside]
    assert ((z.mean(0)[inside] - centre).abs() < 0.25 * spread).all()
    torch.testing.assert_close(z.std(0)[inside], spread, rtol=0.2, atol=0.0)


@torch.inference_mode()
def test_draws_of_a_part_fit_those_of_the_whole(network):
    content = torch.randn(2, 40, 6, generator=torch.Generator().manual_seed(3))
    whole = network.drawn(content, MEAN, STD, SEEDS)
    reach = 2 * 2  # blocks, half a kernel
    part = network.drawn(content[:, 10:], MEAN, STD, SEEDS, start=40)
    torch.testing.assert_close(part[:, 4 * reach :], whole[:, 40 + 4 * reach :])
    other = network.drawn(content, MEAN, STD, SEEDS + 1)
    assert not torch.allclose(other, whole)


@pytest.mark.parametrize(("first", "end"), [(0, 30), (0, 2), (13, 14), (27, None), (5, 5)])
def test_a_contour_of_some_frames_is_that_of_all(network, first, end):
    content = torch.randn(2, 30, 6, generator=torch.Generator().manual_seed(5))
    computed = []
    hooks = [
        block.register_forward_pre_hook(lambda part, given: computed.append(given[0].shape[1]))
        for block in network.blocks
    ]
    with torch.inference_mode():
        whole = network.drawn(content, MEAN, STD, SEEDS, 8)
        computed.clear()
        some = network.drawn(content, MEAN, STD, SEEDS, 8, slice(first, end))
    for hook in hooks:
        hook.remove()
    torch.testing.assert_close(some, whole[:, 4 * first : None if end is None else 4 * end])
    # two frames on either side of each block of kernel 5
    wanted = (30 if end is None else end) - first
    assert all(many <= wanted + 4 * (2 - at) for at, many in enumerate(computed))


def test_the_folder_keeps_it_and_even_kernels_are_refused(network, tmp_path):
    save(network, tmp_path)
    again = load(tmp_path)
    content = torch.randn(1, 9, 6)
    with torch.inference_mode():
        assert torch.equal(again(content).mean, network(content).mean)
    with pytest.raises(ValueError, match="odd"):
        F0Predictor(6, kernel=4)
