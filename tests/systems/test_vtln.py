from __future__ import annotations

import math

import pytest
import torch

from voicenym.anonymizer import load
from voicenym.audio import Audio
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Key
from voicenym.systems import vtln

OMEGA = torch.linspace(0, math.pi, 2049, dtype=torch.float64)
KEY = Key(bytes(32))


def test_distortion_of_the_bilinear_function_is_as_derived():
    """0.32, 0.36 and 0.40 at |alpha| = 0.08, 0.09 and 0.10."""
    for alpha, expected in ((0.08, 0.32), (0.09, 0.36), (0.10, 0.40)):
        for sign in (1, -1):
            found = vtln.distortion(vtln.bilinear(OMEGA, sign * alpha), OMEGA).item()
            assert found == pytest.approx(expected, abs=0.005)


def test_distortion_of_the_quadratic_function_is_beta_pi_over_six():
    found = vtln.distortion(vtln.quadratic(OMEGA, 0.7), OMEGA).item()
    assert found == pytest.approx(0.7 * math.pi / 6, rel=1e-4)


def test_bilinear_functions_of_opposite_sign_undo_each_other():
    back = vtln.bilinear(vtln.bilinear(OMEGA, 0.09), -0.09)
    torch.testing.assert_close(back, OMEGA, atol=1e-12, rtol=0)


def test_every_drawn_warp_is_monotonic_and_within_the_published_limits():
    system = load("vtln")
    signs = set()
    for speaker in range(100):
        h = system.warped(KEY.pseudonym(str(speaker)), OMEGA)
        assert (h.diff() > 0).all()
        assert h[0].item() == pytest.approx(0, abs=1e-12)
        assert h[-1].item() == pytest.approx(math.pi)
        assert 0.319 <= vtln.distortion(h, OMEGA).item() <= 0.401
        signs.add(bool(h[1000] > OMEGA[1000]))
    assert signs == {True, False}


@pytest.mark.parametrize(
    "parameters", [{"low": 0.2, "high": 0.1}, {"least": 0.5, "most": 0.4}, {"warp": "power"}]
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(UnknownSystemError, match="vtln"):
        load("vtln", **parameters)


def test_limits_that_no_warp_meets_are_refused():
    system = load("vtln", least=5.0, most=6.0)
    with pytest.raises(UnknownSystemError, match="widen"):
        system.warped(KEY.pseudonym("a"), OMEGA)


@pytest.mark.parametrize("alpha", [None, 0.08, -0.1, 0.0, 0.3])
@pytest.mark.parametrize(("least", "most", "away"), [(0.32, 0.40, False), (0.32, 0.48, True)])
def test_valid_betas_are_those_of_the_whole_grid(alpha, least, most, away):
    omega = torch.linspace(0, math.pi, vtln.INTEGRATION_POINTS, dtype=torch.float64)
    first = omega if alpha is None else vtln.bilinear(omega, alpha)
    expected = []
    for place, beta in enumerate(vtln.BETA_GRID):
        x = first / math.pi
        h = first + beta * (x - x * x)
        if not (h.diff() > 0).all() or not least <= vtln.distortion(h, omega) <= most:
            continue
        moved = vtln.shift(h, omega)
        if not away or vtln.LEAST_SHIFT <= moved <= vtln.MOST_SHIFT:
            expected.append(place)
    if expected:
        assert vtln._valid_betas(alpha, least, most, away) == expected
    else:
        with pytest.raises(UnknownSystemError):
            vtln._valid_betas(alpha, least, most, away)


def test_the_grid_is_searched_once_for_all_recordings_of_a_speaker():
    vtln._valid_betas.cache_clear()
    system = load("vtln")
    for _ in range(3):
        system.warped(KEY.pseudonym("a"), OMEGA)
    assert vtln._valid_betas.cache_info().misses == 1


def buzz(seconds=1.5, f0=120.0, rate=16000):
    """Harmonics that fall by 6 dB an octave, and a resonance at 1 kHz."""
    hertz = f0 * torch.arange(1, int(0.49 * rate / f0))[:, None]
    gain = f0 / hertz + 0.5 / (1.0 + ((hertz - 1000.0) / 150.0) ** 2)
    time = torch.arange(round(seconds * rate)) / rate
    return 0.05 * (gain * torch.cos(2 * math.pi * hertz * time)).sum(0)


def test_a_short_delay_has_the_same_warp_and_comes_sooner():
    audio, pseudonym = Audio(buzz(), 16000), KEY.pseudonym("a")
    usual, short = (load("vtln", delay=delay) for delay in ("usual", "short"))
    assert torch.equal(usual.warped(pseudonym, OMEGA), short.warped(pseudonym, OMEGA))
    first, second = (system(audio, pseudonym).samples for system in (usual, short))
    assert not torch.equal(first, second)
    window = torch.hann_window(1024)
    spectra = [
        torch.stft(one, 1024, window=window, return_complex=True).abs().square().mean(1).log10()
        for one in (audio.samples, first, second)
    ]
    original, one, other = (s.unfold(0, 16, 8).mean(1) for s in spectra)
    assert float((one - other).abs().mean()) < 0.5 * float((one - original).abs().mean())
    delays = [system.stream(pseudonym, 16000).latency for system in (usual, short)]
    assert delays[0] - delays[1] == 192, "12 ms"


def test_the_usual_delay_is_named_as_releases_without_it_did():
    assert "delay" not in load("vtln").parameters()
    assert load("vtln", delay="short").parameters()["delay"] == "short"
    with pytest.raises(UnknownSystemError, match="usual or short"):
        load("vtln", delay="long")
