"""Content encoder interface: lengths, windows and streams, on a small encoder."""

from __future__ import annotations

import pytest
import torch

from voicenym.nets.content.content_encoder import Content


class Smoothed(Content):
    """Means of frames, smoothed over two frames on either side; whole recordings if asked."""

    kind = "smoothed"
    hop = 10
    size = 3
    most_samples = 200
    context = 30

    def __init__(self, reach: int | None = 20) -> None:
        super().__init__()
        self.reach = reach
        self.conv = torch.nn.Conv1d(self.hop, self.size, 5, padding=2)

    def encode(self, waveforms, lengths=None):
        frames = waveforms.unflatten(1, (-1, self.hop))
        return self.conv(frames.transpose(1, 2)).transpose(1, 2)

    def config(self):
        return {"reach": self.reach}


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Smoothed().eval()


def noise(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(("samples", "frames"), [(0, 0), (1, 1), (10, 1), (11, 2), (95, 10)])
def test_the_last_frame_need_not_be_full(network, samples, frames):
    assert network(noise(2, samples)).shape == (2, frames, 3)
    assert network.frames_of(samples) == frames
    lengths = torch.tensor([samples, 0])
    assert network(noise(2, samples), lengths).shape == (2, frames, 3)


def test_a_row_is_what_it_is_alone(network):
    batch, lengths = noise(3, 100), torch.tensor([100, 47, 0])
    found = network(batch, lengths)
    torch.testing.assert_close(found[1, :5], network(batch[1:2, :47])[0])
    assert not found[1, 5:].any()
    assert not found[2].any()


@pytest.mark.parametrize("samples", [0, 7, 200, 201, 345, 1000, 1003])
def test_windows_equal_the_whole_within_reach(network, samples):
    signal = noise(samples)
    torch.testing.assert_close(network.extract(signal), network(signal[None])[0])


def test_windows_bound_the_memory(network, monkeypatch):
    received = []
    encode = Smoothed.encode
    monkeypatch.setattr(
        Smoothed,
        "encode",
        lambda self, x, lengths=None: (received.append(x.shape[1]), encode(self, x))[1],
    )
    network.extract(noise(5000))
    assert max(received) <= Smoothed.most_samples
    network.context = 100
    with pytest.raises(ValueError, match="windows"):
        network.extract(noise(5000))


@pytest.mark.parametrize("sizes", [[1], [7, 64], [10], [333], [2, 500]])
def test_a_stream_equals_the_whole(network, sizes):
    signal = noise(2, 777)
    stream, parts, at = network.stream(2), [], 0
    while at < signal.shape[1]:
        size = sizes[len(parts) % len(sizes)]
        parts.append(stream.push(signal[:, at : at + size]))
        at += size
        ready = sum(part.shape[1] for part in parts)
        assert ready == max(0, min(at, 777) - stream.latency) // network.hop
    parts.append(stream.flush())
    torch.testing.assert_close(torch.cat(parts, 1), network(signal))


def test_what_needs_the_whole_does_not_stream():
    with pytest.raises(ValueError, match="smoothed needs a recording as a whole"):
        Smoothed(None).stream()


def test_a_waveform_alone_is_no_batch(network):
    with pytest.raises(ValueError, match="not \\[batch, time\\]"):
        network(noise(100))
