"""The bundled resynthesis system."""

import pytest
import torch

import voicenym
from voicenym.audio import Audio
from voicenym.dsp.pitch.trackers import tracker
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError
from voicenym.systems.base import Base

KEY = voicenym.Key(bytes(range(32)))
RATE = 16_000


def talk(seconds=2.0, f0=140.0):
    time = torch.arange(round(seconds * RATE)) / RATE
    pitch = f0 * (1 + 0.1 * torch.sin(4 * time))
    phase = 2 * torch.pi * torch.cumsum(pitch / RATE, 0)
    buzz = sum(torch.cos(k * phase) / (1 + abs(k * f0 - 700) / 300) for k in range(1, 30))
    return 0.1 * buzz * (0.6 + 0.4 * torch.sin(11 * time))


def test_the_pitch_moves_to_the_drawn_register_and_keeps_its_movement():
    system, samples = Base(), talk()
    pseudonym = KEY.pseudonym("a")
    voice = system.voice([pseudonym])
    out = system(Audio(samples, RATE), pseudonym).samples
    # By Praat: a steady buzz is spoken with every other pulse stronger, which ours hears halved.
    praat = tracker("praat")
    found, source = (praat(signal[None], RATE).f0[0] for signal in (out, samples))
    both = (found > 0) & (source > 0)
    assert both.sum() > 100
    assert float(found[both].log().median()) == pytest.approx(float(voice.log_f0[0]), abs=0.12)
    moved = torch.corrcoef(torch.stack([found[both].log(), source[both].log()]))[0, 1]
    assert float(moved) > 0.8


def test_voices_belong_to_the_pseudonym_alone():
    system = Base()
    a, b = (system.voice([KEY.pseudonym(name)]) for name in "ab")
    again = system.voice([KEY.pseudonym("b"), KEY.pseudonym("a")])
    torch.testing.assert_close(again.vectors[1], a.vectors[0])
    assert float(torch.cosine_similarity(a.vectors, b.vectors)) < 0.8
    assert a.seeds != b.seeds


def test_another_identity_may_choose_and_one_that_hears_needs_the_recording():
    blank = Base(identity="blank")
    audio = Audio(talk(1.0), RATE)
    with pytest.raises(AudioError, match="profil"):
        blank.stream(KEY.pseudonym("a"), RATE)
    profiling = blank.profiling(RATE)
    profiling.push(audio.samples)
    profile = profiling.result()
    assert profile.vectors.shape == (1, 192)
    assert not blank.voice([KEY.pseudonym("a")], profile.vectors).vectors.any()
    assert blank(audio, KEY.pseudonym("a")).samples.shape == audio.samples.shape


def test_a_recordings_vector_is_a_mean_over_its_parts_without_padding():
    system = Base(identity="copy")
    signal = torch.stack([talk(21.5), torch.nn.functional.pad(talk(2.0, 210.0), (0, 312_000))])
    profiling = system.profiling(RATE, 2, lengths=[344_000, 32_000])
    for block in signal.split(50_000, dim=1):
        profiling.push(block)
    both = profiling.result().vectors
    alone = system.profiling(RATE)
    alone.push(signal[1, :32_000])
    one = torch.nn.functional.normalize(alone.result().vectors)
    torch.testing.assert_close(torch.nn.functional.normalize(both[1:]), one, atol=1e-3, rtol=0)


def test_a_blend_that_only_shortens_the_own_vector_is_refused():
    with pytest.raises(UnknownSystemError, match="the system ignores the length of vectors"):
        voicenym.load("base", identity="blank:strength=0.5")


def test_faults_raise_at_construction(tmp_path):
    with pytest.raises(UnknownSystemError, match="nobody"):
        voicenym.load("base", identity="nobody")
    with pytest.raises(VoicenymError, match=str(tmp_path)):
        Base(weights=str(tmp_path))(Audio(talk(0.2), RATE), KEY.pseudonym("a"))
