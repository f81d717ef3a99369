"""First passes and their profiles: of which system, rate and rows."""

from __future__ import annotations

import gc
import pickle

import pytest
import torch

import voicenym
from voicenym.anonymizer import profile_origin, usable
from voicenym.anonymizer.profile_origin import Origin, check_profile
from voicenym.errors import AudioError

RATE = 16_000
SOUND = 0.2 * torch.sin(torch.arange(RATE) / 20.0) * torch.sin(torch.arange(RATE) / 900.0)
PSEUDONYM = voicenym.Key(bytes(32)).pseudonym("anna")
SYSTEMS = ("formant", "recast", "base", "musa", "ssl-loh")


def profile_of(name, rate=RATE, channels=1):
    profiling = voicenym.load(name).profiling(rate, channels)
    profiling.push(torch.stack([SOUND] * channels))
    return profiling.result()


@pytest.mark.parametrize("name", SYSTEMS)
def test_blocks_have_the_channels_of_the_first_pass(name):
    """Some systems would take one channel for two."""
    system = voicenym.load(name)
    with pytest.raises(AudioError, match="has 2 channels, the block has 1"):
        system.profiling(RATE, 2).push(SOUND)
    with pytest.raises(AudioError, match="has 1 channel, the block has 2"):
        system.profiling(RATE).push(torch.stack([SOUND, SOUND]))


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_first_pass_ends_with_its_result(name):
    profiling = voicenym.load(name).profiling(RATE)
    profiling.push(SOUND)
    found = profiling.result()
    with pytest.raises(AudioError, match="has ended; make a new one"):
        profiling.push(SOUND)
    assert profiling.result() is found


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_profile_is_for_streams_of_its_system_rate_and_rows(name):
    system, one = voicenym.load(name), profile_of(name)
    with pytest.raises(AudioError, match=rf"needs one of {name}\.profiling\(16000, 2\)"):
        system.stream(PSEUDONYM, RATE, 2, one)
    with pytest.raises(AudioError, match=rf"needs one of {name}\.profiling\(8000, 1\)"):
        system.stream(PSEUDONYM, 8_000, 1, one)
    with pytest.raises(AudioError, match=rf"is of {name}\.profiling\(16000, 2\)"):
        system.stream(PSEUDONYM, RATE, 1, profile_of(name, channels=2))
    foreign = "formant" if name != "formant" else "recast"
    with pytest.raises(AudioError, match=rf"is of {foreign}\.profiling"):
        system.stream(PSEUDONYM, RATE, 1, profile_of(foreign))
    assert system.stream(PSEUDONYM, RATE, 1, one).finish(SOUND).shape == SOUND.shape


def test_systems_of_one_analysis_share_profiles():
    shared = profile_of("recast")
    check_profile(shared, Origin("another", RATE, 1, lambda: "average voice"))
    for kind in ("another analysis", None):
        with pytest.raises(AudioError, match="is of recast"):
            check_profile(shared, Origin("another", RATE, 1, lambda kind=kind: kind))


def test_a_copy_of_a_profile_is_taken_as_it_is():
    """Such as one that another process made."""
    copy = pickle.loads(pickle.dumps(profile_of("recast")))
    made = voicenym.load("recast").stream(PSEUDONYM, RATE, 1, copy).finish(SOUND)
    assert made.shape == SOUND.shape


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("given", [object(), {}, [1], (1, 2), 3, "profile", SOUND])
def test_what_is_no_profile_is_refused(name, given):
    system = voicenym.load(name)
    with pytest.raises(AudioError, match=rf"{name}: a {type(given).__name__} is no profile of it"):
        system.stream(PSEUDONYM, RATE, 1, given)


@pytest.mark.parametrize("name", usable())
def test_every_system_names_the_class_of_its_profiles(name):
    system = voicenym.load(name)
    if system.needs_profile:
        assert isinstance(profile_of(name), system.profile_type)
    if system.may_refuse and system.needs_profile and system.parts.language is not None:
        with pytest.raises(AudioError, match="is no profile of it; pass what"):
            system.refusal(object())


def test_origins_of_profiles_that_are_gone_are_forgotten():
    gc.collect()
    before = len(profile_origin._origins)
    found = profile_of("recast")
    assert len(profile_origin._origins) == before + 1
    del found
    gc.collect()
    assert len(profile_origin._origins) == before
