"""Cloak: bound by the level, exact streaming, and storage in a folder."""

from __future__ import annotations

import json

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import CONFIG, WEIGHTS
from voicenym.nets.cloak.cloak import REFERENCE, Cloak, CloakStream
from voicenym.nets.cloak.geometry import WaveUNetConfig

SMALL = WaveUNetConfig((4, 6, 8), stride=2, voiceprint=6)


def cloak(loud=30.0):
    """One whose network says much, so that the ball is met."""
    torch.manual_seed(3)
    made = Cloak(SMALL).eval()
    torch.nn.init.normal_(made.net.out.weight, std=loud)
    return made.requires_grad_(False)


def speech(rows=2, samples=4_000, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return REFERENCE * torch.randn(rows, samples, generator=generator)


VOICES = torch.tensor([[1.0, 0.0, 2.0, 0.0, -1.0, 0.0], [0.0] * 6])
EPSILONS = torch.tensor([0.02, 0.1])


def test_no_sample_leaves_its_ball_and_the_ball_is_used():
    for gain in (0.01, 1.0, 10.0):
        added = cloak()(gain * speech(), VOICES, EPSILONS)
        assert added.shape == (2, 4_000)
        assert (added.abs().amax(1) <= EPSILONS + 1e-7).all()
        share = (added.abs().amax(1) / EPSILONS).tolist()
        assert all(0.9 * min(1.0, gain) < one < 1.5 * gain for one in share)


def test_the_level_of_speech_is_kept():
    sound = speech() * torch.linspace(0.1, 1.0, 4_000)
    made = sound + cloak(0.5)(sound, VOICES, EPSILONS)
    assert (made - sound).square().mean() > 1e-3 * sound.square().mean()
    for start in range(0, 4_000, 1_000):
        part = slice(start, start + 1_000)
        ratio = made[:, part].square().mean(1) / sound[:, part].square().mean(1)
        assert ratio.tolist() == pytest.approx([1.0, 1.0], abs=0.05)


def test_the_cloak_follows_the_level_of_quiet_speech():
    quiet = 0.2 * speech()
    half = cloak(1.0)(0.5 * quiet, VOICES, EPSILONS)
    # but for the floor under the level
    torch.testing.assert_close(half, 0.5 * cloak(1.0)(quiet, VOICES, EPSILONS), atol=2e-4, rtol=0)


def test_silence_stays_silence_exactly():
    sound = speech()
    sound[:, 1_500:3_000] = 0.0
    added = cloak()(sound, VOICES, EPSILONS)
    assert not added[:, 1_500 + 257 : 3_000 - 257].any()
    assert added[:, :1_000].any()
    assert not cloak()(torch.zeros(2, 3_000), VOICES, EPSILONS).any()


@pytest.mark.parametrize("chunk", [50, 997, 4_000])
def test_blocks_give_what_the_whole_gives_and_are_late_as_stated(chunk):
    made, sound = cloak(), speech()
    whole = made(sound, VOICES, EPSILONS)
    stream = CloakStream(made, made.net.factors(VOICES, EPSILONS), EPSILONS)
    parts, pushed, given = [], 0, 0
    for part in sound.split(chunk, dim=1):
        parts.append(stream.push(part))
        pushed, given = pushed + part.shape[1], given + parts[-1].shape[1]
        assert given >= pushed - made.latency
    parts.append(stream.flush())
    torch.testing.assert_close(torch.cat(parts, dim=1), whole)


def test_a_crop_within_speech_needs_no_zeros_around_it():
    made, sound = cloak(), speech()
    inner = made.within(sound, VOICES, EPSILONS)
    whole = made(sound, VOICES, EPSILONS)
    assert made.side % SMALL.grid == 0
    assert inner.shape[1] >= sound.shape[1] - 2 * made.side - SMALL.grid
    torch.testing.assert_close(inner, whole[:, made.side : made.side + inner.shape[1]])


def test_targets_are_drawn_as_voiceprints_lie():
    generator = torch.Generator().manual_seed(5)
    axes = torch.tensor([2.0, 1.0, 0.5, 0.0, 0.0, 0.0])
    known = torch.randn(4_000, 6, generator=generator) * axes + torch.tensor([0, 0, 0, 3.0, 0, 0])
    unit = torch.nn.functional.normalize(known, dim=1)
    made = cloak()
    made.fitted(known)
    drawn = made.drawn(torch.randn(20_000, made.spread.shape[1], generator=generator))
    torch.testing.assert_close(drawn.mean(0), unit.mean(0), atol=0.02, rtol=0)
    torch.testing.assert_close(drawn.T.cov(), unit.T.cov(), atol=0.02, rtol=0)


def test_a_kept_cloak_is_the_same(tmp_path):
    made = cloak()
    made.save(tmp_path, verifiers=["nobody"])
    again, recorded = Cloak.load(tmp_path)
    assert recorded["verifiers"] == ["nobody"]
    assert again.config == SMALL
    torch.testing.assert_close(again(speech(), VOICES, EPSILONS), made(speech(), VOICES, EPSILONS))


def test_weights_of_another_k_are_refused(tmp_path):
    cloak().save(tmp_path)
    deeper = tmp_path / "deeper"
    Cloak(WaveUNetConfig((4, 6, 8, 8), stride=2, voiceprint=6)).save(deeper)
    recorded, own = (json.loads((folder / CONFIG).read_text()) for folder in (tmp_path, deeper))
    (deeper / CONFIG).write_text(json.dumps({**recorded, "sha256": own["sha256"]}))
    with pytest.raises(VoicenymError, match="K = 3 blocks, and its configuration 2"):
        Cloak.load(deeper)


def test_a_folder_without_a_cloak_is_refused(tmp_path):
    cloak().save(tmp_path)
    recorded = json.loads((tmp_path / CONFIG).read_text())
    (tmp_path / CONFIG).write_text(json.dumps({**recorded, "kind": "ecapa"}))
    with pytest.raises(VoicenymError, match="holds no cloak"):
        Cloak.load(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({**recorded, "options": {"depth": 3}}))
    with pytest.raises(VoicenymError, match="no size 'depth' of a Wave-U-Net"):
        Cloak.load(tmp_path)
    (tmp_path / WEIGHTS).write_bytes(b"")
    with pytest.raises(VoicenymError, match="damaged"):
        Cloak.load(tmp_path)
