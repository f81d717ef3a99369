"""The network of frames: company, time, and what it is made of."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.words.phone_states.phone_state_network import FRAME, FrameNet, FrameNetConfig


@pytest.fixture(scope="module")
def net():
    torch.manual_seed(0)
    made = FrameNet(FrameNetConfig(tokens=7, width=16, gaps=(1, 2)))
    made.train()
    noise = torch.randn(4, 16_000)
    made(noise, torch.full((4,), 16_000))  # statistics of normalisation
    return made.eval()


def test_company_changes_nothing(net):
    sounds = [torch.randn(n) for n in (16_000, 9_001, 4_800)]
    batch = torch.zeros(3, 16_000)
    for row, sound in zip(batch, sounds, strict=True):
        row[: len(sound)] = sound
    together, frames = net(batch, torch.tensor([len(s) for s in sounds]))
    for i, sound in enumerate(sounds):
        alone, count = net(sound[None], torch.tensor([len(sound)]))
        assert frames[i] == count[0] == alone.shape[1]
        assert alone.shape[1] == pytest.approx(len(sound) / 16_000 / FRAME, abs=1)
        torch.testing.assert_close(together[i, : count[0]], alone[0], atol=1e-4, rtol=1e-4)


def test_a_frame_hears_what_lies_about_it(net):
    # 1 + 2 frames of 30 ms by the residual layers, 30 ms by the first ones and 13 ms of window
    reach = round((1 + 2) * FRAME * 16_000 + 3 * 160 + 200)
    features, frames = net.features(torch.randn(1, 32_000), torch.tensor([32_000]))
    changed = features.clone()
    middle = 100
    changed[:, middle] += 1.0
    before, after = (net.logits(x, frames)[0][0] for x in (features, changed))
    moved = (before - after).abs().amax(1).nonzero()[:, 0] * FRAME * 16_000 - middle * 160
    assert len(moved)
    assert moved.abs().max() <= reach


def test_loudness_changes_nothing(net):
    sound = torch.randn(1, 8_000)
    lengths = torch.tensor([8_000])
    torch.testing.assert_close(
        net(sound, lengths)[0], net(0.1 * sound, lengths)[0], atol=1e-2, rtol=1e-2
    )


def test_silence_gives_an_empty_transcript(net):
    assert torch.isfinite(net(torch.zeros(1, 8_000), torch.tensor([8_000]))[0]).all()


def test_gaps_are_positive():
    with pytest.raises(ValueError, match="gaps"):
        FrameNetConfig(tokens=3, gaps=(0,))
