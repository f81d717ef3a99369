import pytest
import torch

from voicenym.dsp.pitch import recorded_pitch
from voicenym.dsp.pitch.online import PitchStream
from voicenym.dsp.pitch.recorded_pitch import PitchFollower, PitchRecorder

RATE = 16_000


def signal(seconds=1.2, rows=2):
    n = torch.arange(round(seconds * RATE)) / RATE
    f0 = 110.0 + 40.0 * torch.sin(3.0 * n)
    phase = 2 * torch.pi * (f0 / RATE).cumsum(0)
    buzz = sum(torch.cos(k * phase) / k for k in range(1, 10))
    noise = torch.randn(rows, len(n), generator=torch.Generator().manual_seed(0))
    return 0.1 * buzz * (torch.sin(9.0 * n) > -0.3) + 0.01 * noise


def tracked(stream, blocks):
    """Frames of each block, and the rest."""
    return [stream.push(block) for block in blocks] + [stream.flush()]


@pytest.fixture
def counted(monkeypatch):
    """Samples that trackers get."""
    seen = []
    push = PitchStream.push
    monkeypatch.setattr(
        PitchStream, "push", lambda self, x: (seen.append(x.shape[1]), push(self, x))[1]
    )
    return seen


def recorded(samples):
    recorder = PitchRecorder(len(samples), RATE)
    first = recorder.push(samples)
    rest, track = recorder.finish()
    return [torch.cat(parts, dim=1) for parts in zip(first, rest, strict=True)], track


def equal(ours, theirs):
    return all(
        torch.equal(one, other)
        for mine, yours in zip(ours, theirs, strict=True)
        for one, other in zip(mine, yours, strict=True)
    )


def test_a_recorder_tracks_as_a_stream_does():
    samples = signal()
    found, _ = recorded(samples)
    first, rest = tracked(PitchStream(2, RATE), [samples])
    whole = [torch.cat(parts, dim=1) for parts in zip(first, rest, strict=True)]
    assert all(torch.equal(one, other) for one, other in zip(found, whole, strict=True))


@pytest.mark.parametrize("size", [160, 7_001, 40_000])
def test_a_second_pass_gives_the_same_frames_and_tracks_nothing(size, counted):
    samples = signal()
    _, track = recorded(samples)
    blocks = samples.split(size, dim=1)
    counted.clear()
    found = tracked(PitchFollower(2, RATE, track), blocks)
    assert not counted
    assert equal(found, tracked(PitchStream(2, RATE), blocks))


@pytest.mark.parametrize("after", [0, 3_000, 12_000])
def test_another_signal_is_tracked_from_its_beginning(after):
    samples = signal()
    _, track = recorded(samples)
    other = samples.clone()
    other[1, after] += 0.5
    for changed in (other, samples[:, : 16_000 - after], torch.cat([samples, other], dim=1)):
        blocks = changed.split(1_000, dim=1)
        found = tracked(PitchFollower(2, RATE, track), blocks)
        assert equal(found, tracked(PitchStream(2, RATE), blocks))


def test_another_number_of_rows_is_tracked():
    samples = signal()
    _, track = recorded(samples)
    found = tracked(PitchFollower(1, RATE, track), [samples[:1]])
    assert equal(found, tracked(PitchStream(1, RATE), [samples[:1]]))


def test_long_recordings_are_not_kept(monkeypatch):
    monkeypatch.setattr(recorded_pitch, "MOST_SECONDS", 1.0)
    _, track = recorded(signal())
    assert track is None
