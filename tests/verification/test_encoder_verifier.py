"""Networks as verifiers: trained further, begun anew, and left as they were."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("lightning")

from voicenym.attack.transforms import ORIGINAL
from voicenym.errors import VoicenymError
from voicenym.training.speakers.train_verifier import VerifierConfig
from voicenym.training.speech.speech_cache import Shelf
from voicenym.verification.encoder_verifier import CHECKPOINTS, Trained, Untrained
from voicenym.verification.verifier import Teaching
from voicenym.verification.verifiers import network, verifier

SMALL = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}
RECIPE = VerifierConfig(options=SMALL, seconds=0.4, batch=8, speeds=(1.0,), steps=2, every=1)


@pytest.fixture
def speech(corpus, tmp_path):
    return Shelf(tmp_path / "shelf").fill(corpus, ORIGINAL)


def test_a_beginner_learns_and_so_does_what_it_became(speech, tmp_path, monkeypatch):
    # Threads wait on a busy machine.
    monkeypatch.setattr("voicenym.training.run.cpu_count.cores", lambda: 1)
    beginner = Untrained(RECIPE)
    samples = [u.samples() for u in speech[:3]]
    before = beginner.embed(samples)
    said = []
    how = Teaching(RECIPE, card={"trained on": "buzz"}, say=said.append)
    first = beginner.train(speech[:12], tmp_path / "first", speech[12:], how)
    assert [row["step"] for row in first.curve] == [1, 2]
    assert all(0.0 <= row["EER %"] <= 100.0 for row in first.curve)
    assert all(map(math.isfinite, first.calibration))
    assert said
    assert (tmp_path / "first" / CHECKPOINTS).is_dir()
    vectors = first.embed(samples)
    assert np.abs(vectors - before).max() > 1e-4
    np.testing.assert_array_equal(beginner.embed(samples), before)

    second = first.train(speech[12:], tmp_path / "second", how=how)
    assert isinstance(second, Trained)
    assert second.version != first.version
    assert np.abs(second.embed(samples) - vectors).max() > 1e-4
    np.testing.assert_array_equal(first.embed(samples), vectors)
    assert math.isnan(second.calibration[0]), "nobody was kept out to learn it from"
    again = verifier(str(tmp_path / "second"))
    np.testing.assert_array_equal(again.embed(samples), second.embed(samples))
    assert len(again.curve) == 0


def test_only_networks_are_gone_on_from(tmp_path):
    assert network("ecapa-small").name == "ECAPA-TDNN small"
    for name in ("nobody", f"ivector:{tmp_path}"):
        with pytest.raises(VoicenymError, match="to go on from; there are: ecapa-small"):
            network(name)
