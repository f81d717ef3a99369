"""Inversion of systems restores the original formants or pitch."""

import numpy as np
import pytest
import torch

from voicenym import Audio, Key, load
from voicenym.attack.searches.inversion import (
    INVERSES,
    ChosenPseudonym,
    InverseFormant,
    InversePvTsm,
    InverseVtln,
    Inverted,
    inversions,
)
from voicenym.corpus.embedder import Embedder
from voicenym.corpus.transforms import ORIGINAL, Anonymize, Transform
from voicenym.dsp.voice_measurement import Reader
from voicenym.errors import VoicenymError
from voicenym.systems.vtln import Vtln

RATE = 16_000
KEYS = [Key(bytes([i]) * 32) for i in range(6)]


def test_draws_are_the_shares_that_were_chosen():
    chosen = ChosenPseudonym({"a": 0.25, "b": 1.0, "c": 0.0})
    assert chosen.uniform("a", 2.0, 6.0) == 3.0
    assert chosen.uniform("unknown", 2.0, 6.0) == 4.0
    assert chosen.uniforms("b", 3) == [1.0] * 3
    assert [chosen.index(p, 7) for p in "abc"] == [1, 6, 0]
    assert chosen == ChosenPseudonym({"c": 0.0, "b": 1.0, "a": 0.25})
    assert chosen != ChosenPseudonym({"a": 0.5})


@pytest.mark.parametrize("warp", ["composed", "bilinear", "quadratic"])
def test_a_warp_turned_round_is_its_inverse(warp):
    omega = torch.linspace(0.0, torch.pi, 300, dtype=torch.float64)
    for key in KEYS[:4]:
        voice = key.pseudonym("s")
        back = InverseVtln(warp=warp).warped(voice, omega)
        there = Vtln(warp=warp).warped(voice, back)
        torch.testing.assert_close(there, omega, atol=1e-5, rtol=0)
        assert (back - omega).abs().max() > 0.05


def peak(samples):
    """Frequency of the strongest line in Hz."""
    spectrum = np.abs(np.fft.rfft(samples[4000:12000] * np.hanning(8000), 64_000))
    return spectrum.argmax() * RATE / 64_000


@pytest.mark.parametrize("key", KEYS[:3])
def test_a_tone_comes_back_to_where_it_was(key):
    tone = Audio(torch.sin(2 * torch.pi * 440 / RATE * torch.arange(RATE)) * 0.1, RATE)
    voice = key.pseudonym("s")
    moved = load("pv-tsm")(tone, voice)
    assert abs(12 * np.log2(peak(moved.samples.numpy()) / 440)) > 1.9
    back = InversePvTsm()(moved, voice)
    assert peak(back.samples.numpy()) == pytest.approx(440, abs=2)


def test_pitch_is_moved_back_by_the_chosen_factor(corpus):
    samples = torch.from_numpy(corpus[0].samples())

    def reading(x):
        reader = Reader(1, RATE)
        reader.push(x[None])
        return reader.result()[0]

    before = reading(samples)
    system = InverseFormant()
    for share, factor in ((0.0, 1 / 1.5), (0.5, 1.0), (1.0, 1.5)):
        after = reading(
            system(Audio(samples, RATE), ChosenPseudonym({"formant.pitch": share})).samples
        )
        assert after.pitch / before.pitch == pytest.approx(factor, rel=0.06)
    down, up = (
        reading(
            system(Audio(samples, RATE), ChosenPseudonym({"formant.phi": share})).samples
        ).neutral
        for share in (0.1, 0.9)
    )
    assert down < before.neutral < up


@pytest.mark.parametrize("system", ["vtln", "pv-tsm"])
def test_the_nearest_guess_brings_recordings_back(system, corpus, spectrum):
    """Of the guesses, some leads a speaker's recordings much nearer to their originals."""
    recordings = [r for r in corpus if r.speaker == "s1"][:2]
    embedder = Embedder()
    original = embedder(spectrum, recordings, ORIGINAL)
    protected = Transform((Anonymize(system, KEYS[0]),))
    hidden = np.linalg.norm(embedder(spectrum, recordings, protected) - original)
    undone = [
        np.linalg.norm(embedder(spectrum, recordings, protected.then(guess)) - original)
        for guess in inversions(system)
    ]
    assert min(undone) < 0.6 * hidden
    assert max(undone) > hidden, "a wrong guess does not"


def test_guesses_cover_both_signs_and_keep_the_user_s_parameters():
    for system in INVERSES:
        guesses = inversions(system)
        assert len(set(guesses)) == len(guesses) == 12
    chosen = inversions("pv-tsm", {"low": 3.0, "high": 4.0}, 4)
    shifts = sorted(
        InversePvTsm(**dict(g.parameters)).semitones(ChosenPseudonym(dict(g.shares)))
        for g in chosen
    )
    assert shifts == pytest.approx([-3.75, -3.25, 3.25, 3.75])


def test_identities_distinguish_guesses(corpus):
    names = {guess.identity(corpus[0]) for s in INVERSES for guess in inversions(s)}
    assert len(names) == 36
    other = Inverted("vtln", (("vtln.sign", 0.25),), (("warp", "bilinear"),))
    assert other.identity(corpus[0]) not in names


def test_what_cannot_be_run_backwards_is_reported(corpus):
    step = Inverted("recast", ())
    with pytest.raises(VoicenymError, match="recast has no inverse; there are: vtln"):
        step(corpus[0].samples(), corpus[0])


def test_length_is_kept_and_the_same_guess_gives_the_same_sound(corpus):

    for system in INVERSES:
        guess, samples = inversions(system)[3], corpus[0].samples()
        first = guess(samples, corpus[0])
        assert first.shape == samples.shape
        assert first.dtype == np.float32
        np.testing.assert_array_equal(first, guess(samples, corpus[0]))
