import pytest
import torch

from voicenym.nets.speakers import speaker_encoder as module
from voicenym.nets.speakers.ecapa import Ecapa
from voicenym.nets.speakers.speaker_encoder import Encoder


class Count(Encoder):
    """A vector that tells how long a recording was, and how many were beside it."""

    kind, size = "count", 2
    least_samples, most_samples = 10, 1_000

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Parameter(torch.ones(1))
        self.batches = []

    def features(self, waveforms, lengths=None):
        self.batches.append(tuple(waveforms.shape))
        return torch.nn.functional.pad(waveforms, (0, 1))[:, ::160, None]

    def encode(self, features, lengths=None):
        lengths = torch.full((len(features),), features.shape[1]) if lengths is None else lengths
        return torch.stack([lengths, features[:, 0, 0]], 1) * self.one

    def config(self):
        return {}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", {"cpu": 2_000, "cuda": 2_000})


def test_order_is_kept_and_recordings_of_like_length_go_together():
    encoder = Count()
    lengths = [900, 100, 500, 120, 700, 900]
    recordings = [torch.full((n,), float(i)) for i, n in enumerate(lengths)]
    vectors = encoder.embed(recordings)
    assert vectors[:, 1].tolist() == [0, 1, 2, 3, 4, 5]
    assert vectors[:, 0].tolist() == [n // 160 + 1 for n in lengths]
    assert all(rows * samples <= 2_000 for rows, samples in encoder.batches)
    assert encoder.batches == [(2, 900), (1, 700), (1, 500), (2, 120)]


def test_a_batch_holds_little_padding():
    encoder = Count()
    encoder.embed([torch.ones(n) for n in (800, 795, 500, 480, 460, 450)])
    assert encoder.batches == [(2, 800), (2, 500), (2, 460)]


def test_padded_recordings_of_many_lengths_have_few_shapes():
    """Of each shape, oneDNN keeps its primitives: a long search for speakers grew by 400 MB."""
    encoder = Count()
    lengths = [500, 470, 320, 165, 40, 333, 501]
    recordings = [torch.full((n,), float(i)) for i, n in enumerate(lengths)]
    vectors = encoder.embed(recordings, padded=500)
    assert encoder.batches == [(3, 501), (4, 500)]
    assert vectors[:, 1].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert vectors[:, 0].tolist() == [n // 160 + 1 for n in lengths]


def test_a_short_recording_is_repeated_and_none_is_silence():
    encoder = Count()
    encoder.embed([torch.ones(3)])
    encoder.embed([torch.zeros(0)])
    assert encoder.batches == [(1, 12), (1, 10)]
    assert encoder.embed([]).shape == (0, 2)


def test_a_long_recording_is_the_mean_of_equal_parts():
    encoder = Count()
    recording = torch.cat([torch.full((834,), 1.0), torch.full((833,), 2.0), torch.ones(833)])
    (vector,) = encoder.embed([recording])
    assert sorted(encoder.batches) == [(1, 833), (2, 834)]
    assert vector.tolist() == pytest.approx([6, 4 / 3])


def test_a_recording_as_long_as_memory_allows_is_whole():
    encoder = Ecapa(channels=16, size=8, attention=8, squeeze=8).eval()
    recording = 0.1 * torch.randn(3_400, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole = encoder(recording[None])
    torch.testing.assert_close(encoder.embed([recording]), whole, atol=1e-5, rtol=1e-4)
    encoder.most_samples = 1_700
    halves = encoder.embed(list(recording.split(1_700))).mean(0)
    torch.testing.assert_close(encoder.embed([recording])[0], halves, atol=1e-5, rtol=1e-4)
