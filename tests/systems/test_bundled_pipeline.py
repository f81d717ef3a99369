"""The bundled pipeline speaks: the words stay while the voice changes."""

import shutil

import pytest
import torch

import voicenym
from voicenym import Key
from voicenym.corpus.single_file import anonymize_file
from voicenym.nets.weights_home import VARIABLE
from voicenym.resynthesis.pipeline import assembly, conditioning

pytestmark = pytest.mark.slow
BUNDLED = assembly.BUNDLED / "ssl"
SYSTEMS = ("ssl-select", "ssl-roh", "ssl-loh", "ssl-gmm", "word-codes")
IN_TIME = {"word-codes": {"timing": "kept"}}
"""Settings under which words are where they were, to be compared frame by frame."""
KEY = Key(bytes(32))


@pytest.fixture(autouse=True)
def no_other_weights(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))


@pytest.fixture(scope="module")
def parts():
    return assembly.opened(BUNDLED)


@pytest.fixture(scope="module")
def speech(sample):
    whole = voicenym.read(sample)
    return voicenym.Audio(whole.samples[: 3 * whole.rate], whole.rate)


def codes(parts, audio):
    return conditioning.whole_content(parts, audio.samples.reshape(-1))


def likeness(one, other):
    """Mean cosine of the word codes of the same time."""
    frames = min(len(one), len(other))
    return float(torch.nn.functional.cosine_similarity(one[:frames], other[:frames]).mean())


@pytest.mark.parametrize("name", SYSTEMS)
def test_words_stay_and_the_voice_changes(name, parts, speech):
    words = codes(parts, speech)
    first, second = (
        voicenym.load(name, **IN_TIME.get(name, {}))(speech, KEY.pseudonym(speaker))
        for speaker in ("anna", "berta")
    )
    assert first.samples.shape == speech.samples.shape
    assert likeness(words, words.roll(7, 0)) < 0.3, "of other words"
    assert likeness(words, codes(parts, first)) > 0.8
    one, two = (conditioning.whole_vector(parts, x.samples.reshape(-1)) for x in (speech, first))
    assert torch.nn.functional.cosine_similarity(one, two, dim=0) < 0.6
    assert not torch.equal(first.samples, second.samples), "each pseudonym has its own voice"


def test_predicted_f0_does_not_depend_on_the_speakers_f0(parts, speech, monkeypatch):
    system, pseudonym = voicenym.load("ssl-gmm", f0="predicted"), KEY.pseudonym("anna")
    spoken = system(speech, pseudonym)
    assert likeness(codes(parts, speech), codes(parts, spoken)) > 0.7

    def unvoiced(*_):
        raise AssertionError("F0 of the recording was extracted")

    monkeypatch.setattr(conditioning, "pitch_of", unvoiced)
    assert torch.equal(system(speech, pseudonym).samples, spoken.samples)


def test_weights_are_the_named_ones_then_the_own_ones_then_the_bundled_ones(tmp_path, monkeypatch):
    assert voicenym.load("ssl-loh").folder == BUNDLED
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    shutil.copytree(BUNDLED, tmp_path / "ssl")
    assert voicenym.load("ssl-loh").folder == tmp_path / "ssl"
    assert str(voicenym.load("ssl-loh", weights="elsewhere").folder) == "elsewhere"


@pytest.mark.parametrize("samples", [1, 320, 700])
def test_very_short_recordings_keep_their_length(speech, samples):
    short = voicenym.Audio(speech.samples[8000 : 8000 + samples], speech.rate)
    made = voicenym.load("word-codes")(short, KEY.pseudonym("anna")).samples
    assert made.shape == (samples,)
    assert torch.isfinite(made).all()


def test_speech_that_the_codes_do_not_fit_gets_a_warning(sample, tmp_path, monkeypatch):
    system, pseudonym = voicenym.load("word-codes"), KEY.pseudonym("anna")
    result = anonymize_file(system, pseudonym, sample, tmp_path / "a.wav")
    assert not any("language of the weights" in text for text in result.warnings)
    content = assembly.opened(BUNDLED).content
    assert content.most_misfit is not None
    monkeypatch.setattr(content, "most_misfit", 0.05)
    result = anonymize_file(system, pseudonym, sample, tmp_path / "b.wav")
    assert any(
        "language of the weights" in text and str(sample) in text for text in result.warnings
    )
