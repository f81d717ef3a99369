"""Content normalisation: closed forms of the map, and statistics of recordings."""

import pytest
import torch

from voicenym.nets.content.bottleneck import EVERY, RATE
from voicenym.resynthesis.bundled import analysis, content_normalisation
from voicenym.resynthesis.bundled.analysis import AveragesReader
from voicenym.resynthesis.bundled.base_core import ResynthesisCore, Voice
from voicenym.resynthesis.bundled.content_normalisation import (
    ContentStatistics,
    counted,
    unpacked,
    width,
)
from voicenym.resynthesis.bundled.model_parts import Parts

SIZE = 4
CONTENT = {"width": 16, "inner": 24, "blocks": 2, "size": SIZE}
OPTIONS = {"content": 5, "speaker": 8, "width": 16, "inner": 24, "blocks": 2, "lookahead": 3}


def everybody(seed=0):
    generator = torch.Generator().manual_seed(seed)
    mixed = 0.1 * torch.randn(SIZE, SIZE, generator=generator)
    made = ContentStatistics(SIZE)
    made.mean.copy_(0.1 * torch.randn(SIZE, generator=generator))
    made.covariance.copy_(mixed @ mixed.T + 0.01 * torch.eye(SIZE))
    return made


def source(frames=4000, seed=1):
    """Somebody's content ``[1, frame, size]``, correlated and off the middle."""
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randn(1, frames, SIZE, generator=generator)
    mixed = 0.12 * torch.randn(SIZE, SIZE, generator=generator) + 0.05 * torch.eye(SIZE)
    return numbers @ mixed + torch.tensor([0.1, -0.2, 0.0, 0.05])


def loud(numbers):
    return torch.zeros(len(numbers), numbers.shape[1] * EVERY)


def test_a_recording_comes_to_have_everybodys_mean_and_covariance(monkeypatch):
    monkeypatch.setattr(content_normalisation, "FRAMES_OF_MEAN", 0.0)
    monkeypatch.setattr(content_normalisation, "FRAMES_OF_COVARIANCE", 0.0)
    who, numbers = everybody(), source()
    moved = who(numbers, who.map(counted(numbers, loud(numbers)).sum(1)))
    torch.testing.assert_close(moved.mean(1)[0], who.mean, atol=1e-4, rtol=0)
    covariance = torch.cov(moved[0].T, correction=0)
    torch.testing.assert_close(covariance, who.covariance, atol=1e-4, rtol=1e-3)


def test_the_map_is_symmetric_and_positive_so_that_nothing_moves_farther_than_it_must():
    """Brenier: the linear map that moves a distribution least is the gradient of a convex one."""
    who, numbers = everybody(), source()
    matrix = who.map(counted(numbers, loud(numbers)).sum(1)).matrix[0]
    torch.testing.assert_close(matrix, matrix.T)
    assert torch.linalg.eigvalsh(matrix).min() > 0


def test_independent_numbers_are_stretched_by_the_ratio_of_their_deviations():
    who = ContentStatistics(2)
    who.covariance.copy_(torch.diag(torch.tensor([0.04, 0.01])))
    weight = 1e6
    sums = torch.tensor([weight, 0.0, 0.0, 0.01 * weight, 0.0, 0.0, 0.04 * weight]).double()
    way = who.map(sums)
    expected = torch.diag(torch.tensor([2.0, 0.5])).double()
    torch.testing.assert_close(way.matrix, expected, atol=1e-3, rtol=0)


def test_of_nothing_nothing_is_moved():
    who = everybody()
    numbers = source(50).clamp(-1, 1)
    way = who.map(torch.zeros(1, width(SIZE), dtype=torch.float64))
    torch.testing.assert_close(who(numbers, way), numbers, atol=1e-5, rtol=0)


def test_what_shifts_a_recording_as_a_whole_is_gone(monkeypatch):
    monkeypatch.setattr(content_normalisation, "FRAMES_OF_MEAN", 0.0)
    who, numbers = everybody(), 0.2 * source(200)
    shifted = numbers + torch.tensor([0.3, -0.1, 0.2, 0.0])
    one, other = (who(n, who.map(counted(n, loud(n)).sum(1))) for n in (numbers, shifted))
    torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


def test_pauses_do_not_count_and_speech_does():
    numbers = source(30)
    level = torch.cat([torch.full((1, 30), -7.0), torch.zeros(1, 30)], dim=1)
    weight, first, second = unpacked(counted(numbers, level))
    assert weight[0, :15].max() < 1e-3
    assert weight[0, 15:].min() > 0.99
    torch.testing.assert_close(first[0, 20], weight[0, 20] * numbers[0, 20].double())
    assert second.shape == (1, 30, SIZE, SIZE)


def test_everybody_is_learnt_frame_by_frame():
    numbers = source(3000)
    level = loud(numbers)
    whole = counted(numbers, level).sum(1)
    halves = torch.cat([counted(n, loud(n)).sum(1) for n in numbers.split(700, dim=1)])
    one, other = ContentStatistics(SIZE), ContentStatistics(SIZE)
    one.learn(whole)
    other.learn(halves)
    torch.testing.assert_close(one.mean, numbers.mean(1)[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(
        one.covariance, torch.cov(numbers[0].T, correction=0), atol=1e-5, rtol=0
    )
    torch.testing.assert_close(one.covariance, other.covariance)


@pytest.fixture(scope="module")
def parts():
    torch.manual_seed(3)
    made = Parts(CONTENT, "istft-vocoder", OPTIONS, rank=4, normalised=True)
    made.usual[0], made.usual[1:] = -6.0, -8.0
    made.everybody.covariance.copy_(0.04 * torch.eye(SIZE))
    return made


def speech(seconds, f0=140.0):
    time = torch.arange(round(seconds * RATE)) / RATE
    buzz = sum(torch.cos(2 * torch.pi * f0 * k * time + k) for k in range(1, 20)) / 20
    return (0.3 * buzz * (0.6 + 0.4 * torch.sin(7 * time)))[None]


def processed(parts, signal, size, lengths=None):
    reader = AveragesReader(parts, len(signal), lengths)
    for block in signal.split(size, dim=1):
        reader.push(block)
    return reader.result().content


def test_a_long_recording_is_counted_by_parts_whatever_its_blocks(parts, monkeypatch):
    monkeypatch.setattr(analysis, "ENCODED_FRAMES", 60)
    signal = speech(2.0)
    whole = processed(parts, signal, 10**6)
    assert 80 < float(whole[0, 0]) <= 100
    for size in (161, 4000):
        torch.testing.assert_close(processed(parts, signal, size), whole, atol=1e-3, rtol=1e-4)


def test_a_batch_counts_no_padding(parts):
    long, short = speech(1.2), speech(0.8, 190.0)
    padded = torch.nn.functional.pad(short, (0, long.shape[1] - short.shape[1]))
    both = processed(parts, torch.cat([long, padded]), 1600, [long.shape[1], short.shape[1]])
    alone = processed(parts, short, 1600)
    assert float(both[1, 0]) == pytest.approx(float(alone[0, 0]), abs=2.0)
    torch.testing.assert_close(both[1] / both[1, 0], alone[0] / alone[0, 0], atol=0.03, rtol=0)


def test_a_live_stream_comes_to_the_file_s_map(parts):
    signal = speech(40.0)
    reader = AveragesReader(parts, 1, None)
    reader.push(signal)
    known = parts.everybody.map(reader.result().content)
    who = Voice(torch.ones(1, 8), torch.full((1,), 5.0), torch.full((1,), 0.2), torch.arange(1))
    core = ResynthesisCore(parts, who, None)
    core.push(signal)
    found = parts.everybody.map(core._content_sums)
    torch.testing.assert_close(found.mean, known.mean, atol=0.05, rtol=0)
    torch.testing.assert_close(found.matrix, known.matrix, atol=0.25, rtol=0.1)


def test_parts_that_leave_content_as_it_is_know_nobody(tmp_path):
    torch.manual_seed(0)
    plain = Parts(CONTENT, "istft-vocoder", OPTIONS, rank=4)
    plain.save(tmp_path / "plain", {})
    again = Parts.load(tmp_path / "plain")
    assert again.everybody is None
    made = again.with_normalisation()
    for name, value in plain.state_dict().items():
        assert torch.equal(made.state_dict()[name], value), name
    made.save(tmp_path / "normalised", {})
    assert Parts.load(tmp_path / "normalised").everybody is not None
