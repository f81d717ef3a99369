import math

import pytest
import torch

from voicenym.dsp.pitch.trackers import TRACKERS, frames_of, tracker
from voicenym.errors import DependencyError, VoicenymError

RATE = 16_000


def tone(hertz, samples=RATE // 2):
    time = torch.arange(samples) / RATE
    return 0.05 * sum(torch.cos(2 * math.pi * hertz * k * time) for k in range(1, 10))


@pytest.fixture(params=TRACKERS)
def name(request):
    package = {"praat": "parselmouth", "dio": "pyworld", "harvest": "pyworld"}.get(request.param)
    if package:
        pytest.importorskip(package)
    return request.param


@pytest.mark.parametrize("hop", [0.01, 0.02])
def test_every_tracker_finds_the_pitch_at_the_same_frames(name, hop):
    signal = torch.stack([tone(130.0), tone(250.0)])
    track = tracker(name, hop=hop)(signal, RATE)
    count = frames_of(RATE // 2, RATE, hop)
    assert track.f0.shape == track.confidence.shape == (2, count)
    side = round(0.06 / hop)
    for row, hertz in enumerate((130.0, 250.0)):
        middle = track.f0[row, side:-side]
        assert (middle / hertz - 1).abs().max() < 0.01
        assert track.confidence[row, side:-side].min() > 0.7
    assert ((track.confidence >= 0) & (track.confidence <= 1)).all()
    assert torch.equal(track.voiced, track.f0 > 0)


def test_frames_lie_where_they_should(name):
    # voice from 0.4 s to 0.8 s
    signal = torch.zeros(1, 19_200)
    signal[0, 6_400:12_800] = tone(200.0, 6_400)
    voiced = tracker(name)(signal, RATE).voiced[0].nonzero()[:, 0]
    assert voiced.min() == pytest.approx(40, abs=5)
    assert voiced.max() == pytest.approx(80, abs=5)


@pytest.mark.parametrize("samples", [0, 1, 700, 801])
def test_silence_and_short_clips(name, samples):
    for signal in (torch.zeros(2, samples), tone(200.0, samples).expand(2, -1)):
        track = tracker(name)(signal, RATE)
        assert track.f0.shape == (2, -(-samples // 160))
        assert track.f0.isfinite().all()
    assert (tracker(name)(torch.zeros(1, 800), RATE).f0 == 0).all()


def test_f0_within_the_limits_is_found(name):
    track = tracker(name, lowest=150.0, highest=300.0)(tone(220.0)[None], RATE)
    assert (track.f0[0, 6:-6] / 220 - 1).abs().max() < 0.01


def test_unknown_names_hops_and_missing_packages_say_what_to_do(monkeypatch):
    with pytest.raises(VoicenymError, match="yaapt"):
        tracker("crepe")
    with pytest.raises(VoicenymError, match="10 ms"):
        tracker("live", hop=0.005)(tone(200.0)[None], RATE)
    import sys

    for name, package in (("praat", "parselmouth"), ("dio", "pyworld")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(DependencyError, match=r"voicenym\[pitch\]"):
            tracker(name)(tone(200.0)[None], RATE)
