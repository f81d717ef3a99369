from __future__ import annotations

import pytest
import torch

from voicenym.dsp.features.cepstra import Cepstra
from voicenym.errors import VoicenymError
from voicenym.nets.checkpoint import read, write
from voicenym.nets.statistics.background_model import Background
from voicenym.nets.statistics.gaussian_mixture import Mixture
from voicenym.nets.statistics.total_variability import start

CEPSTRA = Cepstra(coefficients=4, bands=12, slopes=1, window=0)


def model(full: bool, rank: int = 3) -> Background:
    generator = torch.Generator().manual_seed(0)
    root = torch.randn(5, 8, 8, generator=generator)
    matrices = root @ root.mT + torch.eye(8)
    covariances = matrices if full else matrices.diagonal(dim1=1, dim2=2).contiguous()
    means = torch.randn(5, 8, generator=generator)
    mixture = Mixture(torch.full((5,), 0.2), means, covariances)
    total = start(mixture, rank, generator, spread=1.0) if rank else None
    return Background(CEPSTRA, mixture, total)


def noises() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [0.1 * torch.randn(n, generator=generator) for n in (8_000, 12_000)]


@pytest.mark.parametrize("full", [False, True])
def test_comes_back_from_its_folder(full, tmp_path):
    before = model(full)
    write(tmp_path, {**before.tensors(), "more": torch.ones(1)}, before.settings())
    after = Background.of(*read(tmp_path))
    assert after.cepstra == CEPSTRA
    assert after.mixture.full == full
    torch.testing.assert_close(after.ivectors(noises()), before.ivectors(noises()))


def test_a_background_alone_has_statistics_and_no_ivectors():
    before = model(True, rank=0)
    alone = Background.of(before.settings(), before.tensors())
    counts, sums = alone.statistics([*noises(), torch.zeros(4_000)])
    assert counts.shape == (3, 5)
    assert sums.shape == (3, 5, 8)
    frames = [len(CEPSTRA(x)) for x in noises()]
    torch.testing.assert_close(counts.sum(1), torch.tensor([*map(float, frames), 0.0]))
    with pytest.raises(VoicenymError, match="without i-vectors"):
        alone.ivectors(noises())


def test_a_recording_has_the_same_vector_in_any_company():
    whole = model(True).ivectors(noises())
    for samples, vector in zip(noises(), whole, strict=True):
        torch.testing.assert_close(model(True).ivectors([samples])[0], vector)
    assert model(True).ivectors([torch.zeros(4_000)]).eq(0).all()


def test_other_models_are_refused():
    with pytest.raises(VoicenymError, match="holds ecapa, no statistical speaker model"):
        Background.of({"kind": "ecapa"}, {})
    tensors = model(True).tensors()
    del tensors["total.factors"]
    with pytest.raises(VoicenymError, match=r"without 'total\.factors'"):
        Background.of(model(True).settings(), tensors)


def test_features_of_another_size_are_refused():
    with pytest.raises(VoicenymError, match="8 numbers a frame, and the features have 72"):
        Background(Cepstra(), model(True).mixture)
