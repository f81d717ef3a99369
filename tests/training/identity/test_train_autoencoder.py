"""Autoencoder training hides the adversaries' labels and keeps the rest."""

import math
from dataclasses import replace

import pytest
import torch

from voicenym.errors import CorpusError
from voicenym.identity.pools.speaker_pool import Pool
from voicenym.training.identity.train_autoencoder import AutoencoderConfig, train


def spoken() -> Pool:
    """Sex lies along the first element; the others hold something else."""
    noise = torch.Generator().manual_seed(0)
    vectors = torch.randn(400, 6, generator=noise)
    sex = torch.arange(400) // 10 % 2
    vectors[:, 0] = 6.0 * sex - 3.0 + 0.3 * vectors[:, 0]
    names = tuple(f"s{i // 10}" for i in range(400))
    return Pool(vectors, tuple("fm"[int(s)] for s in sex), names, "invented")


def gap(vectors: torch.Tensor, pool: Pool) -> float:
    """Between women and men along the first element, in its spread among speakers."""
    women = torch.tensor([sex == "f" for sex in pool.sexes])
    return float((vectors[women, 0].mean() - vectors[~women, 0].mean()).abs())


def test_sex_goes_away_where_it_is_looked_for_and_stays_where_it_is_not(tmp_path):
    pool = spoken()
    small = {"code": 6, "hidden": 32, "speaker": 0.0, "steps": 200, "every": 50, "rate": 0.005}
    found = {}
    for weight in (0.0, 1.0):
        config = AutoencoderConfig(sex=weight, **small)
        network, outcome = train(pool, config, tmp_path / str(weight))
        assert outcome.steps == 200
        with torch.inference_mode():
            found[weight] = network(pool.vectors)
    before = gap(pool.vectors, pool)
    assert gap(found[0.0], pool) > 0.8 * before
    assert gap(found[1.0], pool) < 0.2 * gap(found[0.0], pool)
    kept = torch.corrcoef(torch.stack([found[1.0][:, 3], pool.vectors[:, 3]]))[0, 1]
    assert float(kept) > 0.9


def test_batches_in_which_no_sex_is_known_train_the_rest(tmp_path):
    pool = spoken()
    rare = tuple(sex if row in (0, 10) else "" for row, sex in enumerate(pool.sexes))
    config = AutoencoderConfig(code=6, hidden=32, steps=10, every=5, batch=16, sex=1.0)
    network, outcome = train(replace(pool, sexes=rare), config, tmp_path)
    assert math.isfinite(outcome.best)
    assert network(pool.vectors).isfinite().all()


def test_vectors_without_a_second_utterance_or_speaker_are_refused(tmp_path):
    pool = spoken()
    with pytest.raises(CorpusError, match="--utterances"):
        train(pool.per_speaker(), AutoencoderConfig(), tmp_path)
    one = Pool(pool.vectors[:10], pool.sexes[:10], pool.speakers[:10], "invented")
    with pytest.raises(CorpusError, match="one speaker only"):
        train(one, AutoencoderConfig(), tmp_path)
