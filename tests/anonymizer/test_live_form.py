"""Whole recordings processed as live streams are: ``live=True``."""

from __future__ import annotations

import pytest
import torch

import voicenym
from voicenym.corpus.recording import Recording
from voicenym.corpus.transforms import Anonymize
from voicenym.errors import UnknownSystemError

KEY = voicenym.Key(bytes(32))
RATE = 16_000


def speech():
    time = torch.arange(3 * RATE) / RATE
    phase = 2 * torch.pi * torch.cumsum(140 + 40 * torch.sin(3 * time), 0) / RATE
    return 0.05 * sum(torch.sin(k * phase) / k for k in range(1, 12))


def streamed(system, samples):
    stream = system.stream(KEY.pseudonym("anna"), RATE)
    parts = [stream.push(part) for part in samples.split(320)]
    return torch.cat([*parts, stream.flush()])


@pytest.mark.parametrize("name", ["recast", "base", "mcadams"])
def test_the_live_form_is_that_of_a_stream_without_a_profile(name):
    samples = speech()
    live = voicenym.load(name, live=True)
    found = live(voicenym.Audio(samples, RATE), KEY.pseudonym("anna")).samples
    torch.testing.assert_close(found, streamed(live, samples), atol=1e-4, rtol=1e-3)
    whole = voicenym.load(name)(voicenym.Audio(samples, RATE), KEY.pseudonym("anna")).samples
    assert found.equal(whole) == (name == "mcadams")


@pytest.mark.parametrize("name", ["formant", "b1a", "ssl-select"])
def test_a_system_that_needs_the_whole_recording_has_no_live_form(name):
    with pytest.raises(UnknownSystemError, match=f"{name} does not work live"):
        voicenym.load(name, live=True)


def test_results_of_the_two_forms_are_kept_apart_in_caches(sample):
    recording = Recording("anna", "one", sample)
    plain = Anonymize("recast", KEY)
    live = Anonymize("recast", KEY, parameters=(("live", True),))
    assert plain.identity(recording) != live.identity(recording)
    assert "live" not in voicenym.load("recast").parameters()
    assert voicenym.load("recast", live=True).parameters()["live"] is True
