"""Precision of matrix products, and the systems that have a choice."""

from __future__ import annotations

import pytest
import torch

import voicenym
from voicenym.errors import UnknownSystemError
from voicenym.nets import matrix_precision
from voicenym.nets.matrix_precision import BFLOAT16, SINGLE, has_bfloat16, products_in, unfit

needs_bfloat16 = pytest.mark.skipif(not has_bfloat16(), reason="no bfloat16 in this processor")
NAMES = ("base", "word-codes")


def speech(seconds=1.5):
    n = torch.arange(round(seconds * 16_000)) / 16_000
    phase = 2 * torch.pi * (120.0 * n + 4.0 * torch.sin(4.0 * n))
    buzz = sum(torch.cos(k * phase) / k for k in range(1, 25))
    noise = torch.randn(len(n), generator=torch.Generator().manual_seed(0))
    return 0.1 * buzz * (torch.sin(8.0 * n) > -0.5) + 0.01 * noise


def test_a_precision_that_is_not_there_is_refused_with_its_cure(monkeypatch):
    for name in NAMES:
        with pytest.raises(UnknownSystemError, match="single or bfloat16, not 'half'"):
            voicenym.load(name, precision="half")
    monkeypatch.setattr(matrix_precision, "has_bfloat16", lambda device: False)
    assert unfit(SINGLE, "cpu") is None
    for name in NAMES:
        with pytest.raises(UnknownSystemError, match="AVX-512 BF16 or AMX, or a GPU; leave it out"):
            voicenym.load(name, precision=BFLOAT16)


def test_products_are_in_the_precision():
    one = torch.full((2, 2), 1.0 + 2.0**-10)
    with products_in(SINGLE, one.device):
        assert (one @ one).dtype is torch.float32
    with products_in(BFLOAT16, one.device):
        assert (one @ one).dtype is torch.bfloat16


@needs_bfloat16
def test_base_differs_little_in_bfloat16():
    single, lower = (voicenym.load("base", precision=p) for p in (SINGLE, BFLOAT16))
    assert "precision" not in single.parameters()
    assert lower.parameters()["precision"] == BFLOAT16
    audio = voicenym.Audio(speech(), 16_000)
    pseudonym = voicenym.Key(bytes(range(32))).pseudonym("a")
    before, lowered, after = (s(audio, pseudonym).samples for s in (single, lower, single))
    assert torch.equal(before, after), "weights are not shared"
    error = (lowered - before).square().mean() / before.square().mean()
    assert 0 < error < 1e-5  # -50 dB


@needs_bfloat16
def test_nearly_all_codes_are_those_of_single_precision():
    single, lower = (
        voicenym.load("word-codes", precision=p).parts.content for p in matrix_precision.PRECISIONS
    )
    with torch.inference_mode():
        wave = speech()[None, :23_680]
        states, codes, _ = single._analysed(*single._states(wave))
        others, found, _ = lower._analysed(*lower._states(wave))
    assert states.dtype is others.dtype is torch.float32
    assert not torch.equal(states, others)
    torch.testing.assert_close(states, others, rtol=0.0, atol=0.05 * float(states.std()) * 4)
    assert (codes == found).float().mean() > 0.85
