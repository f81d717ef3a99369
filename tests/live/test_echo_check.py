import pytest
import torch

import voicenym
from voicenym.errors import VoicenymError
from voicenym.live.echo_check import refuse_echo

KEY = voicenym.Key(bytes(32), None)


def maker(system, rate):
    return lambda: system.stream(KEY.pseudonym("a"), rate, low_delay=True)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mcadams", {"low": 1.0, "high": 1.0}),
        ("vtln", {"warp": "bilinear", "low": 0.0, "high": 0.0}),
        ("vtln", {"warp": "bilinear", "low": 0.001, "high": 0.001}),
    ],
)
def test_settings_without_effect_are_refused(name, settings, rate):
    system = voicenym.load(name, **settings)
    with pytest.raises(VoicenymError, match=f"{name} returns its input .* choose stronger"):
        refuse_echo(maker(system, rate), rate, name)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
@pytest.mark.parametrize(
    "name", ["mcadams", "mcadams-radius", "vtln", "pv-tsm", "vcloak", "recast"]
)
def test_systems_as_they_are_pass(name, rate):
    refuse_echo(maker(voicenym.load(name), rate), rate, name)


def test_a_louder_or_inverted_copy_is_one_and_silence_is_none():
    class Scaled:
        def __init__(self, gain):
            self.gain = gain

        def push(self, samples):
            return self.gain * samples

    for gain in (3.0, -0.5):
        with pytest.raises(VoicenymError, match="returns its input"):
            refuse_echo(lambda gain=gain: Scaled(gain), 16_000, "x")
    refuse_echo(lambda: Scaled(0.0), 16_000, "x")
    noise = torch.Generator().manual_seed(3)
    other = type("Other", (), {"push": lambda _, x: torch.randn(len(x), generator=noise)})
    refuse_echo(other, 16_000, "x")
