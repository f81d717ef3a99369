"""Verifiers by name, and the bundled one."""

from __future__ import annotations

import math
import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.speakers.speaker_encoders import SMALL, make, save
from voicenym.verification import verifiers as verifiers
from voicenym.verification.encoder_verifier import StoredEncoder
from voicenym.verification.verifiers import encoder_of, installed, unconverted, verifier

pytest.importorskip("safetensors")


def sounds():
    rng = np.random.default_rng(0)
    return [0.1 * rng.standard_normal(n).astype(np.float32) for n in (16_000, 9_000, 300)]


def test_the_bundled_one_is_whole_and_says_what_its_scores_mean():
    found = verifier("ecapa-small")
    vectors = found.embed(sounds())
    assert vectors.shape == (3, 192)
    assert np.isfinite(vectors).all()
    assert all(math.isfinite(x) for x in found.calibration)
    assert found.calibration[0] > 0
    assert (SMALL / "README.md").is_file()
    assert sum(p.stat().st_size for p in SMALL.iterdir()) < 2_000_000


def test_it_hears_voices_and_not_words(corpus):
    """Two buzzes of one speaker are more alike than those of two, although buzzes are no speech."""
    vectors = verifier("ecapa-small").embed([r.samples() for r in corpus])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosine = unit @ unit.T
    who = np.array([r.speaker for r in corpus])
    same = (who[:, None] == who) & ~np.eye(len(who), dtype=bool)
    assert np.median(cosine[same]) > np.median(cosine[who[:, None] != who])


@pytest.mark.skipif(
    not Path(os.environ.get("VOICENYM_SPEECH", "")).joinpath("manifest.tsv").is_file(),
    reason="VOICENYM_SPEECH names no folder of real speech",
)
def test_it_distinguishes_speakers_outside_the_training():
    """Single sentences, one sex, half of them children: under fifteen errors in a hundred."""
    from voicenym.corpus.recordings import recordings
    from voicenym.training.speakers.pair_verification import verify

    speech = recordings(Path(os.environ["VOICENYM_SPEECH"]), "dev", "speechocean762")[::4]
    vectors = verifier("ecapa-small").embed([r.samples() for r in speech])
    assert verify(vectors, speech, replicates=0).value < 0.15


def test_a_trained_one_goes_to_a_worker_and_changes_its_version_with_its_weights(tmp_path):
    import torch

    torch.manual_seed(0)
    small = {"channels": 16, "size": 8, "attention": 8, "squeeze": 8}
    for name in ("one", "two"):
        save(make("ecapa", small), tmp_path / name, calibration=(10.0, -4.0))
    one, two = StoredEncoder(tmp_path / "one"), StoredEncoder(tmp_path / "two")
    assert one.version != two.version
    assert one.name == "one"
    assert one.calibration == (10.0, -4.0)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.embed(sounds()), one.embed(sounds()))


def test_names_that_are_none_say_what_there_is(tmp_path):
    with pytest.raises(VoicenymError, match="ecapa-small, resemblyzer"):
        verifier("nobody")
    with pytest.raises(VoicenymError, match="go on from; there are: ecapa-small"):
        encoder_of("nobody")
    with pytest.raises(VoicenymError, match=r"config\.json"):
        verifier(str(tmp_path))


def test_what_is_not_converted_is_not_offered_and_is_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path))
    assert installed() == ["ecapa-small"]
    monkeypatch.setattr(verifiers, "find_spec", lambda name: object())
    assert "voicenym models pull resemblyzer" in unconverted()
    monkeypatch.setattr(verifiers, "find_spec", lambda name: None)
    assert unconverted() == ""


def test_going_on_from_a_verifier_leaves_it_as_it_is():
    import torch

    encoder = encoder_of("ecapa-small")
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.zero_()
    assert np.abs(verifier("ecapa-small").embed(sounds())).max() > 0


def test_a_verifier_is_named_by_text():
    with pytest.raises(VoicenymError, match="by its name, as text, not by NoneType"):
        verifier(None)


def test_a_package_adds_a_verifier_as_ours_are(plugged, corpus):
    assert "band-levels" in verifiers.VERIFIERS
    assert "whispered_voice.band_levels" not in sys.modules, "names alone import nothing"
    found = verifier("band-levels")
    assert (found.name, found.version) == ("levels of bands", "1-16")
    few = verifier("band-levels:bands=8")
    assert few.embed(sounds()).shape == (3, 8)
    assert few.version != found.version
    assert verifier("band-levels:8").version == few.version
    vectors = found.embed([r.samples() for r in corpus])
    who = np.array([r.speaker for r in corpus])
    scores = np.array([found.score([vector[None]], vectors)[0] for vector in vectors])
    same = (who[:, None] == who) & ~np.eye(len(who), dtype=bool)
    assert np.median(scores[same]) > np.median(scores[who[:, None] != who])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.embed(sounds()), found.embed(sounds()))
    assert installed()[0] == "ecapa-small", "it takes part where it is named"
    assert "band-levels" not in installed()


def test_errors_name_another_packages_verifier(plugged):
    with pytest.raises(VoicenymError, match=r"no verifier 'band-level' \(did you mean band-levels"):
        verifier("band-level")
    with pytest.raises(VoicenymError, match="there are: ecapa-small, resemblyzer, band-levels, "):
        verifier("nobody")
    with pytest.raises(VoicenymError, match="no parameter size; it has: bands"):
        verifier("band-levels:bands=3,size=4")
    with pytest.raises(VoicenymError, match="no verifier 'band-levels' to go on from"):
        encoder_of("band-levels")
