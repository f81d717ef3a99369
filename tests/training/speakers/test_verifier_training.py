"""Training of verifiers: networks continue or start anew; the starting point stays unchanged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from voicenym.corpus.transforms import ORIGINAL
from voicenym.errors import VoicenymError
from voicenym.training.speakers.encoder_training import CHECKPOINTS, UntrainedEncoder
from voicenym.training.speakers.train_ubm import BackgroundConfig
from voicenym.training.speakers.verifier_training import train_verifier, training_of
from voicenym.training.speakers.verifier_training_options import TrainingOptions
from voicenym.training.speech.speech_cache import SpeechCache
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.verifier import Verifier
from voicenym.verification.verifiers import verifier

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}


@pytest.fixture
def speech(corpus, tmp_path):
    return SpeechCache(tmp_path / "cache").fill(corpus, ORIGINAL)


def test_an_untrained_encoder_is_trained_and_its_result_again(speech, tmp_path, monkeypatch):
    pytest.importorskip("lightning")
    from voicenym.training.speakers.train_verifier import VerifierConfig

    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.corpus.workers.cpu_count.cores", lambda: 1)
    recipe = VerifierConfig(options=SMALL, seconds=0.4, batch=8, speeds=(1.0,), steps=2, every=1)
    start = UntrainedEncoder(recipe)
    samples = [u.samples() for u in speech[:3]]
    before = start.embed(samples)
    messages = []
    options = TrainingOptions(recipe, card={"trained on": "buzz"}, say=messages.append)
    trained = train_verifier(start, speech[:12], tmp_path / "first", speech[12:], options)
    first = trained.verifier
    assert [row["step"] for row in trained.curve] == [1, 2]
    assert all(0.0 <= row["EER %"] <= 100.0 for row in trained.curve)
    assert all(map(math.isfinite, first.calibration))
    assert messages
    assert (tmp_path / "first" / CHECKPOINTS).is_dir()
    vectors = first.embed(samples)
    assert np.abs(vectors - before).max() > 1e-4
    np.testing.assert_array_equal(start.embed(samples), before)

    second = train_verifier(first, speech[12:], tmp_path / "second", options=options).verifier
    assert isinstance(second, StoredEncoder)
    assert second.version != first.version
    assert np.abs(second.embed(samples) - vectors).max() > 1e-4
    np.testing.assert_array_equal(first.embed(samples), vectors)
    assert math.isnan(second.calibration[0]), "no speech was held out to calibrate on"
    again = verifier(str(tmp_path / "second"))
    np.testing.assert_array_equal(again.embed(samples), second.embed(samples))


def test_what_cannot_be_trained_says_what_can(spectrum, tmp_path):
    with pytest.raises(VoicenymError, match="spectrum cannot be trained; take ecapa-small"):
        train_verifier(spectrum, [], tmp_path)


def test_another_kind_of_verifier_registers_its_training(spectrum, tmp_path):
    class Other(type(spectrum)):
        pass

    @training_of.register(Other)
    def _other(start, speech, folder, held_out, options):
        return start, list(speech), folder, options.seconds

    options = TrainingOptions(seconds=3.0)
    for start in (Other(), Other):  # an instance to continue from, or a class to begin with
        found = train_verifier(start, "ab", tmp_path, options=options)
        assert found == (start, ["a", "b"], tmp_path, 3.0)
    with pytest.raises(VoicenymError, match="cannot be trained"):
        train_verifier(spectrum, [], tmp_path)  # the base class has no training by that


def test_no_verifier_trains_itself():
    kinds = [Verifier]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        assert not hasattr(kind, "train"), kind


def test_a_recipe_is_a_configuration_a_name_or_the_default(tmp_path):
    pytest.importorskip("yaml")
    own = BackgroundConfig(components=3)
    assert TrainingOptions(own).config(BackgroundConfig) is own
    assert TrainingOptions().config(BackgroundConfig) == BackgroundConfig()
    file = tmp_path / "mine.yaml"
    file.write_text("components: 5\n")
    assert TrainingOptions(str(file)).config(BackgroundConfig).components == 5
    assert TrainingOptions().config(BackgroundConfig, str(file)).components == 5
    with pytest.raises(VoicenymError, match="no such configuration"):
        TrainingOptions("nowhere").config(BackgroundConfig)
