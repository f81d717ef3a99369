"""Mixture draws: distribution, forced dissimilarity, and impossible draws."""

import math
from dataclasses import replace

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import identity
from voicenym.identity.mixture import Mixture
from voicenym.identity.pools.vector_mixture import Gaussians, Mixtures, opened, save

SIZE = 6


def gaussians(offset: float, full: bool = False) -> Gaussians:
    """Two components in three dimensions of six, far apart, of weights 0.7 and 0.3."""
    mean = torch.zeros(SIZE)
    mean[-1], mean[-2] = 2.0, offset
    means = torch.tensor([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0]])
    roots = torch.tensor([[1.0, 2.0, 0.5], [1.0, 1.0, 1.0]])
    if full:
        roots = torch.diag_embed(roots)
        roots[0, 1, 0] = 1.0
    return Gaussians(mean, torch.eye(SIZE)[:3], torch.tensor([0.7, 0.3]), means, roots)


def mixtures(full: bool = False) -> Mixtures:
    return Mixtures({"f": gaussians(1.0, full), "m": gaussians(-1.0, full)}, "invented")


VECTOR = torch.tensor([0.5, -0.5, 0.2, 0.0, 1.0, 2.0])


@pytest.mark.parametrize("full", [False, True])
def test_draws_have_the_mixtures_moments(key, full):
    method = Mixture(mixtures(full))
    names = [key.pseudonym(str(i)) for i in range(4000)]
    found = method.batch(VECTOR.expand(4000, -1), names, ["f"] * 4000).double()
    reduced = found[:, :3]
    assert torch.allclose(found[:, 3:], torch.tensor([0.0, 1.0, 2.0]).double(), atol=1e-6)
    second = reduced[:, 0] > 15
    assert abs(second.double().mean() - 0.3) < 4 * math.sqrt(0.21 / 4000)
    first = reduced[~second]
    expected = gaussians(1.0, full).covariances[0]
    expected = expected if full else torch.diag(expected)
    assert torch.allclose(first.mean(0), torch.zeros(3).double(), atol=0.15)
    assert torch.allclose(torch.cov(first.T), expected.double(), atol=0.35)


def test_rows_do_not_depend_on_each_other(key):
    method = Mixture(mixtures(), theta=0.9)
    noise = torch.randn(20, SIZE, generator=torch.Generator().manual_seed(0)) + VECTOR
    names = [key.pseudonym(str(i)) for i in range(20)]
    together = method.batch(noise, names)
    assert torch.equal(together, method.batch(noise.flip(0), names[::-1]).flip(0))
    alone = torch.stack([method(v, n) for v, n in zip(noise, names, strict=True)])
    assert torch.equal(together, alone)
    assert torch.equal(method(noise[0], names[0]), method(noise[0], names[0]))
    assert len(together.unique(dim=0)) == 20


def test_the_voice_is_drawn_of_the_sex_that_is_asked_for(key):
    women = torch.tensor([0.0, 0, 0, 0, 1.0, 2.0])
    who = key.pseudonym("a")
    for sex, given, expected in (
        ("same", None, 1.0),
        ("same", "m", -1.0),
        ("opposite", None, -1.0),
        ("opposite", "m", 1.0),
    ):
        assert float(Mixture(mixtures(), sex=sex)(women, who, given)[-2]) == expected
    either = {
        float(Mixture(mixtures(), sex="any")(women, key.pseudonym(str(i)))[-2]) for i in range(20)
    }
    assert either == {1.0, -1.0}
    one = Mixtures({"f": gaussians(1.0)}, "invented")
    with pytest.raises(VoicenymError, match="give the sex"):
        Mixture(one)(women, who)
    with pytest.raises(VoicenymError, match="no speakers of sex 'm'"):
        Mixture(one)(women, who, "m")
    everybody = Mixtures({"": gaussians(0.0)}, "invented")
    assert float(Mixture(everybody)(women, who)[-2]) == 0.0
    with pytest.raises(VoicenymError, match="without sexes"):
        Mixture(everybody, sex="opposite")(women, who)


def test_forced_dissimilarity_is_kept_and_changes_only_those_too_near(key):
    free, forced = Mixture(mixtures()), Mixture(mixtures(), theta=0.3)
    names = [key.pseudonym(str(i)) for i in range(300)]
    rows = VECTOR.expand(300, -1)
    before, after = (m.batch(rows, names, ["f"] * 300) for m in (free, forced))
    cosine = torch.nn.functional.cosine_similarity
    was, now = cosine(rows, before, dim=1), cosine(rows, after, dim=1)
    assert (now <= 0.3 + 1e-6).all()
    near = was > 0.3
    assert 0 < int(near.sum()) < 300
    assert torch.equal(before[~near], after[~near])


def test_a_dissimilarity_out_of_reach_says_how_near_it_came(key):
    with pytest.raises(
        VoicenymError, match=r"none of 50 draws .* theta=-0.99 .* set theta to"
    ) as e:
        Mixture(mixtures(), theta=-0.99, retries=50)(VECTOR, key.pseudonym("a"), "f")
    given = float(str(e.value).split("set theta to ")[1].split(" ")[0])
    Mixture(mixtures(), theta=given, retries=50)(VECTOR, key.pseudonym("a"), "f")


def test_statistics_that_are_none_are_refused():
    good = gaussians(0.0)
    with pytest.raises(VoicenymError, match="means of the mixture is not finite"):
        replace(good, means=good.means * float("nan"))
    with pytest.raises(VoicenymError, match="fewer components"):
        replace(good, roots=-good.roots)
    with pytest.raises(VoicenymError, match="fewer components"):
        replace(good, weights=good.weights * 2)
    with pytest.raises(VoicenymError, match="means of the mixture is"):
        replace(good, means=good.means[:, :2])


def test_bad_vectors_and_parameters_are_refused(key):
    with pytest.raises(VoicenymError, match="has 5 elements"):
        Mixture(mixtures())(VECTOR[:5], key.pseudonym("a"))
    for wrong in ({"theta": 1.5}, {"retries": 0}, {"sex": "women"}):
        with pytest.raises(UnknownSystemError):
            Mixture(mixtures(), **wrong)


def test_it_is_made_by_name_from_a_folder(key, tmp_path):
    save(mixtures(True), tmp_path)
    made = identity("mixture", model=str(tmp_path), theta=0.5)
    who = key.pseudonym("a")
    assert torch.equal(made(VECTOR, who), Mixture(mixtures(True), theta=0.5)(VECTOR, who))
    assert repr(opened(str(tmp_path))).startswith("Mixtures(f: 2 in 3 dimensions")
    with pytest.raises(VoicenymError, match="voicenym train mixture"):
        identity("mixture", model=str(tmp_path / "no"))(VECTOR, who)
