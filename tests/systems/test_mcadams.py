from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest
import soundfile
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from voicenym.anonymizer import load
from voicenym.audio import Audio
from voicenym.errors import UnknownSystemError
from voicenym.pseudonym import Key

KEY = Key(bytes(32))


def reference():
    path = Path(__file__).parents[2] / "benchmarks" / "mcadams_reference.py"
    spec = importlib.util.spec_from_file_location("mcadams_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def noisy_vowel(rate: int = 16000, seconds: float = 1.0) -> torch.Tensor:
    time = torch.arange(round(rate * seconds), dtype=torch.float64) / rate
    noise = 0.03 * torch.randn(len(time), generator=torch.Generator().manual_seed(0))
    harmonics = torch.arange(1, 60)
    weights = torch.exp(-(((harmonics * 120 - 700) / 400.0) ** 2)) + 0.3 * torch.exp(
        -(((harmonics * 120 - 1800) / 300.0) ** 2)
    )
    phases = 2 * math.pi * 120 * harmonics[:, None] * time + harmonics[:, None] ** 2
    return (0.05 * (weights[:, None] * torch.cos(phases)).sum(0) + 0.1 * noise).float()


@pytest.mark.parametrize("alpha", [0.6, 0.8, 1.1])
def test_agrees_with_the_frame_by_frame_reference(alpha):
    pytest.importorskip("scipy")
    signal = noisy_vowel()
    ours = load("mcadams", low=alpha, high=alpha)(Audio(signal, 16000), KEY.pseudonym("a"))
    theirs = torch.from_numpy(reference().anonymize(signal.double().numpy(), alpha)).float()
    error = (ours.samples - theirs).square().mean() / theirs.square().mean()
    assert error < 1e-4  # -40 dB: a frame in which a pole pair is all but real may fall either way


def test_agrees_with_the_reference_in_every_frame_of_real_speech(speech_folder):
    """Within -50 dB of every frame of 10 ms, at the extremes of alpha and between them."""
    pytest.importorskip("scipy")
    kinds = ("librispeech", "speechocean762", "arabic_cmds", "picovoice_sti")
    files = [f for kind in kinds for f in sorted((speech_folder / kind).rglob("*.opus"))[:400:200]]
    assert len(files) >= 4
    for number, file in enumerate(files):
        alpha = (0.5, 0.7, 0.9)[number % 3]
        samples, rate = soundfile.read(file, frames=64_000, dtype="float32")
        assert rate == 16000
        signal = torch.from_numpy(0.1 * samples)  # below the limiter
        system = load("mcadams", low=alpha, high=alpha, revision=2)
        ours = system(Audio(signal, rate), KEY.pseudonym("a")).samples
        theirs = torch.from_numpy(reference().anonymize(signal.double().numpy(), alpha)).float()
        error, power = (x.split(160) for x in ((ours - theirs).square(), theirs.square()))
        for e, p in zip(error, power, strict=True):
            assert e.sum() <= 1e-5 * p.sum() + 1e-16, (file, alpha)


def test_a_batch_may_hold_both_revisions():
    audio = Audio(noisy_vowel(seconds=0.5), 16000)
    former, fresh = KEY.pseudonym("a"), Key(bytes(32), None).pseudonym("a")
    system = load("mcadams", low=0.5, high=0.5)
    together = system.batch([audio, audio, audio], [former, fresh, former])
    alone = [load("mcadams", low=0.5, high=0.5, revision=n)(audio, former) for n in (1, 2)]

    def distance(one: Audio, other: Audio) -> float:
        return (one.samples - other.samples).square().sum().item()

    between = distance(*alone)
    assert between > 0
    for made, revision in zip(together, (1, 2, 1), strict=True):
        assert distance(made, alone[revision - 1]) < 0.1 * between


class Counting(TorchDispatchMode):
    """Counts the operations of torch by name."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict[str, int] = {}

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        name = function.overloadpacket.__name__
        self.calls[name] = self.calls.get(name, 0) + 1
        return function(*arguments, **(keywords or {}))


def test_a_short_recording_needs_few_operations_and_one_pass():
    """Calls of operations cost more than their arithmetic in recordings of a few seconds."""
    system, pseudonym, calls = load("mcadams"), KEY.pseudonym("a"), []
    for seconds in (2.0, 4.0):
        audio = Audio(noisy_vowel(seconds=seconds), 16000)
        with Counting() as counted:
            system(audio, pseudonym)
        calls.append(counted.calls)
    assert all(c.get("_linalg_eigvals", 0) <= 1 for c in calls)
    total = [sum(n for name, n in c.items() if name.endswith(("mul", "mul_"))) for c in calls]
    assert total[1] < total[0] + 50  # frames are columns, not a loop
    assert total[1] < 1600


def test_alpha_one_changes_nothing():
    signal = noisy_vowel()
    out = load("mcadams", low=1.0, high=1.0)(Audio(signal, 16000), KEY.pseudonym("a")).samples
    torch.testing.assert_close(out, signal, atol=1e-4, rtol=0)


def centre(signal: torch.Tensor, rate: int, low: float, high: float) -> float:
    power = torch.fft.rfft(signal.double()).abs().square()
    frequency = torch.linspace(0, rate / 2, len(power), dtype=torch.float64)
    band = (frequency > low) & (frequency < high)
    return float((power[band] * frequency[band]).sum() / power[band].sum())


def test_low_poles_rise_and_high_ones_fall_for_alpha_below_one():
    rate = 16000
    noise = torch.randn(rate, 1, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    from voicenym.dsp.envelopes import lpc
    from voicenym.dsp.polynomials import quadratic_factors

    for frequency in (900.0, 5000.0):
        r, angle = 0.97, 2 * math.pi * frequency / rate
        b = torch.tensor([[-2 * r * math.cos(angle)]], dtype=torch.float64)
        c = torch.tensor([[r * r]], dtype=torch.float64)
        signal = lpc.synthesize(noise, quadratic_factors.multiply_out(b, c))[:, 0]
        signal = (0.1 * signal / signal.abs().max()).float()
        out = load("mcadams", low=0.8, high=0.8)(Audio(signal, rate), KEY.pseudonym("a")).samples
        expected = angle**0.8 * rate / (2 * math.pi)
        found = centre(out, rate, expected - 400, expected + 400)
        assert found == pytest.approx(expected, rel=0.03)


def test_the_same_formant_moves_alike_at_8_and_16_khz():
    """The published angles are those of 16 kHz; a telephone recording gets the same voice."""
    system = load("mcadams")
    for hertz in (500.0, 1500.0, 3000.0):
        moved = []
        for rate in (8000, 16000):
            angle = torch.tensor([[2 * math.pi * hertz / rate]], dtype=torch.float64)
            b, c = -2 * 0.9 * torch.cos(angle), torch.full_like(angle, 0.81)
            b, c = system._moved(b, c, torch.tensor([0.8], dtype=torch.float64), rate / 16000)
            moved.append(torch.acos(-b / (2 * c.sqrt())).item() * rate / (2 * math.pi))
        assert moved[0] == pytest.approx(moved[1], rel=1e-9)


def test_radius_widens_formants_by_the_stated_bandwidth():
    assert -16000 / math.pi * math.log(0.975) == pytest.approx(129, abs=1)
    system = load("mcadams-radius")
    angle = torch.tensor([[1.0]], dtype=torch.float64)
    b, c = system._moved(
        -2 * 0.9 * torch.cos(angle), 0.81 * torch.ones_like(angle),
        torch.tensor([0.8], dtype=torch.float64), 1.0,
    )  # fmt: skip
    assert c.sqrt().item() == pytest.approx(0.9 * 0.975)
    assert torch.acos(-b / (2 * c.sqrt())).item() == pytest.approx(1.0)  # 1 rad is the fixed point


@pytest.mark.parametrize(
    "parameters",
    [{"low": 0.9, "high": 0.5}, {"low": 0.0}, {"order": 7}, {"order": 0}, {"radius": 0.0}],
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(UnknownSystemError, match="mcadams"):
        load("mcadams", **parameters)
