"""Soft units of word codes: a mean over codes, between nearest code and mean of all."""

import pytest
import torch

from voicenym.nets.content import soft_units
from voicenym.nets.content.soft_units import SOFTNESS
from voicenym.nets.content.soft_units import soft_units as units


def codebook(codes=32, size=8, seed=0):
    return torch.randn(codes, size, generator=torch.Generator().manual_seed(seed))


def test_a_vector_half_way_between_two_codes_is_their_mean():
    ends = 20.0 * torch.eye(2, 4)
    middle = ends.mean(0)
    torch.testing.assert_close(units(middle[None], [ends])[0], middle)


def test_the_weight_of_a_code_is_that_of_the_formula():
    """Two codes at squared distances that differ by T have weights 1 to e."""
    book = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])  # of mean squared length 1
    place = SOFTNESS / 4.0  # |z + 1|^2 - |z - 1|^2 = 4 z
    weight = 1.0 / (1.0 + torch.tensor(-1.0).exp())
    found = units(torch.tensor([[place, 0.0]]), [book])[0]
    torch.testing.assert_close(found, torch.tensor([2.0 * float(weight) - 1.0, 0.0]))


@pytest.mark.parametrize(("softness", "wanted"), [(1e-4, "nearest"), (1e6, "mean")])
def test_its_limits_are_the_nearest_code_and_the_mean_of_all(monkeypatch, softness, wanted):
    monkeypatch.setattr(soft_units, "SOFTNESS", softness)
    book, vectors = codebook(), codebook(seed=1)
    nearest = book[torch.cdist(vectors, book).argmin(1)]
    expected = nearest if wanted == "nearest" else book.mean(0).expand_as(vectors)
    torch.testing.assert_close(units(vectors, [book]), expected, atol=1e-3, rtol=1e-3)


def test_it_lies_within_the_codes_and_nearer_to_the_vector_than_their_mean():
    book, vectors = codebook(), codebook(seed=1)
    found = units(vectors, [book])
    assert (found.amax(0) <= book.amax(0)).all()
    assert (found.amin(0) >= book.amin(0)).all()
    assert ((found - vectors).norm(dim=1) < (book.mean(0) - vectors).norm(dim=1)).all()


def test_a_second_codebook_has_what_the_first_leaves():
    first, second = codebook(), 0.3 * codebook(seed=2)
    vectors = codebook(seed=1)
    before = units(vectors, [first])
    expected = before + units(vectors - before, [second])
    torch.testing.assert_close(units(vectors, [first, second]), expected)
