"""The Conformer: company changes nothing, positions are relative, sizes are as published."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.masked_batch import padded, valid
from voicenym.nets.words.ctc_networks.conformer import (
    SIZES,
    Attention,
    Conformer,
    ConformerConfig,
    relative_positions,
    shifted,
)

SMALL = ConformerConfig(tokens=5, size=16, layers=2, heads=2, kernel=7, channels=8)


def net(config: ConformerConfig = SMALL) -> Conformer:
    torch.manual_seed(0)
    made = Conformer(config).eval()
    for parameter in made.parameters():  # biases of positions, too, are something
        parameter.data += 0.05 * torch.randn_like(parameter)
    return made


@pytest.mark.parametrize("lengths", [(16_000, 7_919, 401), (4_800, 4_799, 4_640, 3)])
def test_a_recording_in_a_batch_is_what_it_is_alone(lengths):
    model = net()
    signals = [0.1 * torch.randn(n) for n in lengths]
    with torch.inference_mode():
        together, frames = model(*padded(signals))
        for row, signal in enumerate(signals):
            alone, count = model(*padded([signal]))
            assert count.item() == frames[row].item() == alone.shape[1]
            torch.testing.assert_close(together[row, :count], alone[0], atol=2e-5, rtol=1e-4)


def test_gradients_of_one_recording_leave_the_padding_alone():
    model = net()
    samples, lengths = padded([torch.randn(8_000), torch.randn(3_000)])
    samples.requires_grad_()
    logits, _ = model(samples, lengths)
    logits[1, :4].sum().backward()
    assert samples.grad[1, :3_000].abs().sum() > 0
    assert not samples.grad[0].any()


def test_level_does_not_matter_but_where_noise_begins():
    model = net()
    signal = 0.1 * torch.randn(8_000)
    with torch.inference_mode():
        loud, soft = (model(*padded([gain * signal]))[0] for gain in (2.0, 0.5))
    torch.testing.assert_close(loud, soft, atol=1e-2, rtol=0)


def test_silence_is_finite():
    logits, _ = net()(torch.zeros(1, 1600), torch.tensor([1600]))
    assert torch.isfinite(logits).all()


def test_rows_are_shifted_to_distances():
    scores = torch.arange(2 * 4 * 7.0).reshape(2, 4, 7)
    found = shifted(scores)
    for i in range(4):
        for j in range(4):
            assert torch.equal(found[:, i, j], scores[:, i, 3 - (i - j)])


def test_places_are_sinusoids_of_distances():
    places = relative_positions(3, 4)
    assert places.shape == (5, 4)
    wanted = [2, 1, 0, -1, -2]
    torch.testing.assert_close(places[:, 0], torch.tensor(wanted).float().sin())
    torch.testing.assert_close(places[:, 3], (torch.tensor(wanted) * 0.01).cos())


def test_attention_is_the_formula_of_relative_positions():
    torch.manual_seed(1)
    attention = Attention(8, 2, 0.0).eval()
    for bias in (attention.content_bias, attention.place_bias):
        bias.data = torch.randn_like(bias)
    x, count = torch.randn(1, 6, 8), 4
    mask = valid(torch.tensor([count]), 6)
    found = attention(x, mask, relative_positions(6, 8))
    query, key, value = attention.inward(attention.before(x[0])).chunk(3, dim=-1)
    whole = torch.zeros(6, 8)
    for head in range(2):
        part = slice(4 * head, 4 * head + 4)
        u, v = attention.content_bias[head, 0], attention.place_bias[head, 0]
        for i in range(6):
            scores = []
            for j in range(count):
                angle = relative_positions(6, 8)[5 - (i - j)]
                distance = attention.place(angle)[part]
                scores.append((query[i, part] + u) @ key[j, part] + (query[i, part] + v) @ distance)
            weights = (torch.stack(scores) / 2.0).softmax(0)
            whole[i, part] = weights @ value[:count, part]
    torch.testing.assert_close(found[0], attention.outward(whole), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(("name", "millions"), [("laptop", 1.43), ("small", 8.7), ("medium", 27.0)])
def test_the_number_of_parameters_is_as_stated(name, millions):
    model = Conformer(ConformerConfig(tokens=29, **SIZES[name]))
    count = sum(parameter.numel() for parameter in model.parameters())
    assert abs(count / 1e6 - millions) < 0.06 * millions


@pytest.mark.parametrize("wrong", [{"size": 30, "heads": 4}, {"kernel": 8}])
def test_sizes_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="multiple of heads"):
        ConformerConfig(tokens=5, **wrong)
