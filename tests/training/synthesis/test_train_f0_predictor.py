"""Training of the F0 predictor: normalisation, padding, likelihood, and F0 that content tells."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from voicenym.corpus.recording import Recording
from voicenym.errors import CorpusError
from voicenym.nets.synthesis.f0_predictor import F0Predictor
from voicenym.training.run.machine import Machine
from voicenym.training.speech.speech_cache import Utterance
from voicenym.training.synthesis import train_f0_predictor as recipe
from voicenym.training.synthesis.synthesis_dataset import ConditionedUtterance
from voicenym.training.synthesis.train_f0_predictor import Contour, F0PredictorConfig

HOP, EVERY, SIZE = 160, 2, 5
TINY = {"width": 16, "inner": 16, "blocks": 1, "kernel": 3}


def items(folder, speakers, each=3, frames=60, voiced=True):
    """Utterances whose first element of content is their normalised F0, and the second voicing."""
    found = []
    for number, speaker in enumerate(speakers):
        mean, std = 4.6 + 0.2 * number, 0.1 + 0.05 * number
        for take in range(each):
            rng = np.random.default_rng([number, take])
            z = rng.standard_normal(frames).clip(-2, 2)
            loud = (rng.random(frames) < 0.7) & voiced
            content = np.stack([z, loud, *rng.standard_normal((SIZE - 2, frames))], 1)
            path = folder / f"{speaker}{take}.npy"
            np.save(path, content.astype(np.float32))
            f0 = np.where(loud, np.exp(mean + std * z), 0.0).repeat(EVERY).astype(np.float32)
            recording = Recording(f"{speaker}{take}", speaker, folder / f"{speaker}{take}.wav")
            utterance = Utterance(recording, path, frames * EVERY * HOP)
            found.append(
                ConditionedUtterance(utterance, path, f0, np.zeros(3, np.float32), HOP, EVERY)
            )
    return found


def test_moments_are_the_speakers_and_silence_has_none(tmp_path):
    some = items(tmp_path, "ab", each=6) + items(tmp_path, "s", voiced=False)
    found = recipe.speaker_moments(some)
    assert set(found) == {"a", "b"}
    assert found["a"][0] == pytest.approx(4.6, abs=0.05)
    assert found["b"][1] == pytest.approx(0.15 * 0.96, rel=0.2)


def test_crops_are_padded_and_normalised(tmp_path):
    (one,) = items(tmp_path, "a", each=1)
    crop = recipe.contour(one, 50, 20, (4.6, 0.1))
    assert crop.content.shape == (20, SIZE)
    assert int(crop.length) == 10
    assert not crop.content[10:].any()
    assert crop.f0[20:].isnan().all()
    z = crop.content[:10, 0].repeat_interleave(EVERY)
    there = ~crop.f0[:20].isnan()
    torch.testing.assert_close(crop.f0[:20][there], z[there], atol=1e-4, rtol=1e-4)


def test_the_likelihood_is_the_gaussians(tmp_path):
    torch.manual_seed(0)
    network = F0Predictor(SIZE, EVERY, HOP, **TINY)
    (one,) = items(tmp_path, "a", each=1)
    crop = recipe.contour(one, 0, 60, (4.6, 0.1))
    batch = Contour(crop.content[None], crop.length[None], crop.f0[None])
    with torch.no_grad():
        found = recipe.losses(network, batch)
        given = network(batch.content)
    voiced = ~batch.f0.isnan()
    gaussian = torch.distributions.Normal(given.mean, given.deviation)
    nats = -gaussian.log_prob(batch.f0.nan_to_num())[voiced].mean()
    assert float(found["F0"]) == pytest.approx(float(nats), rel=1e-4)
    wrong = ((given.voicing > 0) != voiced).float().mean()
    assert float(found["voicing errors"]) == pytest.approx(float(wrong))


def test_what_content_tells_is_learnt(tmp_path):
    some, others = items(tmp_path, "abcd"), items(tmp_path, "xy")
    network = F0Predictor(SIZE, EVERY, HOP, **TINY)
    config = F0PredictorConfig(seconds=1.0, batch=8, rate=1e-2, steps=120, every=40)
    cpu = Machine(accelerator="cpu", workers=0)
    outcome = recipe.train(network, some, others, config, tmp_path / "run", machine=cpu)
    last = outcome.curve[-1]
    assert last["F0"] < 0.5 < 0.5 * math.log(2 * math.pi * math.e)  # of one who knows nothing
    assert last["voicing errors"] < 0.1
    assert not network.training


def test_silence_alone_teaches_nothing(tmp_path):
    network = F0Predictor(SIZE, EVERY, HOP, **TINY)
    silent = items(tmp_path, "s", voiced=False)
    with pytest.raises(CorpusError, match="voiced"):
        recipe.train(network, silent, silent, F0PredictorConfig(), tmp_path / "run")
