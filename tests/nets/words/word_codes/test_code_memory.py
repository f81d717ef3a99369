"""Memory of codes: equal results, weights that change, and the limit."""

from __future__ import annotations

import pytest
import torch
from tests.nets.words.word_codes.test_word_code_content import CODES, WHISPER, noise

from voicenym.nets.content.soft_units import soft_units
from voicenym.nets.content.word_code_bottleneck import WordCodes
from voicenym.nets.words.whisper.whisper import Whisper
from voicenym.nets.words.word_codes.code_memory import ENTRY_BYTES, CodeMemory, fresh_memory
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent


@pytest.fixture
def content():
    torch.manual_seed(0)
    codes = WordCodes(**CODES).train()
    codes(torch.randn(3, 50, 12), torch.tensor([50, 40, 30]))
    return WordCodeContent.of(Whisper(**WHISPER), codes.eval())


@pytest.fixture
def passes(content, monkeypatch):
    """Number of passes of the encoder."""
    found = []
    own = content.encoder.spectra
    monkeypatch.setattr(
        content.encoder, "spectra", lambda x, *sizes: found.append(len(x)) or own(x, *sizes)
    )
    return found


@pytest.mark.parametrize("soft", [False, True])
@torch.inference_mode()
def test_a_window_is_encoded_once_and_gives_the_same_frames(content, passes, soft):
    wave = noise(2, 20_001)
    first, misfit = content.with_language_score(wave, soft=soft)
    again, misfit_again = content.with_language_score(wave.clone(), soft=soft)
    assert torch.equal(first, again)
    assert torch.equal(misfit, misfit_again)
    turned, _ = content.with_language_score(wave.flip(0), soft=soft)
    assert torch.equal(turned, first.flip(0))
    assert passes == [2]


@torch.inference_mode()
def test_soft_units_are_no_codes_and_have_the_same_scores(content):
    wave = noise(2, 20_000)
    codes, misfit = content.with_language_score(wave)
    soft, same = content.with_language_score(wave, soft=True)
    assert torch.equal(misfit, same)
    assert soft.shape == codes.shape
    assert not torch.equal(soft, codes)
    assert torch.equal(codes, content.with_language_score(wave)[0]), "the memories are apart"
    expected = soft_units(content._vectors(content._whole(wave)), content.codes.quantizer.vectors)
    torch.testing.assert_close(soft, expected, atol=0.051, rtol=0.0)


@torch.inference_mode()
def test_another_sample_or_another_weight_is_encoded_anew(content, passes):
    wave = noise(1, 20_000)
    content.with_language_score(wave)
    other = wave.clone()
    other[0, 777] += 1e-6
    content.with_language_score(other)
    assert passes == [1, 1]
    before = content.with_language_score(wave)[1]
    content.codes.enter.weight.mul_(1.5)
    content.codes.enter.bias.add_(0.3)
    after = content.with_language_score(wave)[1]
    assert passes == [1, 1, 1]
    assert not torch.equal(before, after)


@torch.inference_mode()
def test_speed_is_measured_as_of_a_new_recording(content, passes):
    """Earlier windows are forgotten; the two passes over a recording still share theirs."""
    wave = noise(1, 20_000)
    expected, _ = content.with_language_score(wave)
    with fresh_memory():
        for _ in range(2):
            assert torch.equal(content.with_language_score(wave)[0], expected)
    assert passes == [1, 1]
    with fresh_memory():
        content.with_language_score(wave)
    content.with_language_score(wave)
    assert passes == [1, 1, 1, 1]


@torch.inference_mode()
def test_codes_of_lower_precision_are_not_kept(content, passes):
    wave = noise(1, 20_000)
    with torch.autocast("cpu", torch.bfloat16):
        content.with_language_score(wave)
    content.with_language_score(wave)
    assert passes == [1, 1]


def test_training_and_gradients_do_not_use_it(content, passes):
    wave = noise(1, 20_000)
    for _ in range(2):
        content.with_language_score(wave)
    assert passes == [1, 1]
    with torch.no_grad():
        content.train()
        for _ in range(2):
            content.with_language_score(wave)
    assert passes == [1, 1, 1, 1]


def test_the_oldest_of_too_many_windows_is_dropped():
    memory, waves = CodeMemory(most=2 * (ENTRY_BYTES + 4 * 2 + 4 * 4)), noise(3, 640)
    assert memory.find(waves[:1], "w") is None
    memory.keep(waves[:2], torch.zeros(2, 1, 4, dtype=torch.int64), torch.zeros(2, 4, 1))
    assert memory.find(waves[:1], "w") is not None  # used last
    memory.keep(waves[2:], torch.ones(1, 1, 4, dtype=torch.int64), torch.ones(1, 4, 1))
    assert len(memory) == 2
    assert memory.bytes == 2 * (ENTRY_BYTES + 4 * 2 + 4 * 4)
    assert memory.find(waves[1:2], "w") is None
    assert [int(one.codes.sum()) for one in memory.find(waves[[0, 2]], "w")] == [0, 4]
    assert memory.find(waves[:1], "other weights") is None
    assert len(memory) == memory.bytes == 0


def test_a_window_that_is_kept_again_counts_once():
    memory, wave = CodeMemory(), noise(1, 640)
    memory.find(wave, "w")
    for _ in range(3):
        memory.keep(wave, torch.zeros(1, 1, 4, dtype=torch.int64), torch.zeros(1, 4, 1))
    assert (len(memory), memory.bytes) == (1, ENTRY_BYTES + 4 * 2 + 4 * 4)
