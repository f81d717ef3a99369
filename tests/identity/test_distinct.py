"""Distinct pseudo-speakers: least angle between 10,000 of them, and to real speakers."""

import math

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.code_words import code
from voicenym.identity.copy import Copy
from voicenym.identity.distinct import Distinct
from voicenym.identity.pools.speaker_pool import Pool, unit
from voicenym.identity.selection import Selection
from voicenym.identity.voice_indistinguishability import Indistinguishable


@pytest.fixture(scope="module")
def people() -> Pool:
    """300 speakers in 96 dimensions, women first."""
    noise = torch.Generator().manual_seed(0)
    vectors = torch.randn(300, 96, generator=noise) * torch.linspace(1.0, 0.1, 96)
    vectors[:, 0] += 3.0
    vectors[:150, 1] += 2.0
    sexes = ("f",) * 150 + ("m",) * 150
    return Pool(vectors, sexes, tuple(map(str, range(300))), "invented")


def largest_cosine(found: torch.Tensor) -> float:
    """Between any two rows, in double precision."""
    x, worst = unit(found), -1.0
    for begin in range(0, len(x), 1000):
        table = x[begin : begin + 1000] @ x.T
        rows = torch.arange(len(table))
        table[rows, begin + rows] = -1.0
        worst = max(worst, float(table.max()))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("angle", [10.0, 25.0])
def test_ten_thousand_speakers_keep_the_angle_though_all_would_be_one(people, key, angle):
    """The worst method there is gives everybody one voice; only the words tell them apart."""
    method = Distinct(Copy(), people, angle)
    one = people.vectors.mean(0) + 0.1
    found = method.batch(one.expand(10_000, -1), [key.pseudonym(str(i)) for i in range(10_000)])
    assert largest_cosine(found) <= math.cos(math.radians(angle))
    assert float((unit(found) @ people.unit.T).max()) <= math.cos(math.radians(angle))
    assert torch.allclose(found.norm(dim=1), one.norm().expand(10_000), rtol=1e-5)


def test_selection_that_crowds_voices_is_spread(people, key):
    crowded = Selection(people, "random", region=100, sex="any")
    names = [key.pseudonym(str(i)) for i in range(200)]
    rows = people.vectors[:1].expand(200, -1)
    limit = math.cos(math.radians(10.0))
    assert largest_cosine(crowded.batch(rows, names)) > limit
    assert largest_cosine(Distinct(crowded, people).batch(rows, names)) <= limit


def test_nobody_is_handed_a_real_persons_voice(people, key):
    """A method that gives real people's vectors: each is moved away from its owner."""
    real = Indistinguishable(people)
    names = [key.pseudonym(str(i)) for i in range(200)]
    rows = people.vectors[:200]
    assert float((unit(real.batch(rows, names)) @ people.unit.T).max()) > 0.999999
    found = Distinct(real, people, 15.0).batch(rows, names)
    assert float((unit(found) @ people.unit.T).max()) <= math.cos(math.radians(15.0))


def test_a_speakers_voice_does_not_depend_on_who_else_there_is(people, key):
    method = Distinct(Copy(), people)
    names = [key.pseudonym(str(i)) for i in range(30)]
    rows = people.vectors[:30] + 0.2
    together = method.batch(rows, names)
    assert torch.equal(together, method.batch(rows.flip(0), names[::-1]).flip(0))
    assert torch.equal(together[7:8], method.batch(rows[7:8], names[7:8]))


def test_the_band_has_the_share_that_people_have_there(people):
    from voicenym.identity.distinct import _band

    method = Distinct(Copy(), people, 8.0, 32)
    band = _band(people, 32, method.share)
    assert torch.allclose(band @ band.T, torch.eye(32).double(), atol=1e-9)
    held = (people.unit @ band.T).square().sum(1).mean()
    assert float(held) == pytest.approx(method.share, abs=0.02)


def test_an_angle_that_cannot_be_is_refused(people, key):
    with pytest.raises(UnknownSystemError, match="less than 41 degrees with length=64"):
        Distinct(Copy(), people, 60.0)
    with pytest.raises(UnknownSystemError, match="length=128, not 60"):
        Distinct(Copy(), people, 60.0, 128)
    Distinct(Copy(), people, 45.0, 128)
    with pytest.raises(VoicenymError, match=r"span 96 directions, and 129"):
        Distinct(Copy(), people, 45.0, 128)(people.vectors[0], key.pseudonym("a"))


def test_a_pool_that_leaves_no_room_is_named(key):
    """Somebody sits on every place that the code could give."""
    words = code(16)
    share = Distinct(Copy(), Pool(torch.eye(2), ("", ""), ("a", "b"), "e"), 10.0, 16).share
    vectors = torch.zeros(2**words.bits, 17)
    vectors[:, 0] = (1 - share) ** 0.5
    signs = torch.tensor([words.word(number) for number in range(2**words.bits)])
    # the first axes vary a little more, so that the principal directions are the axes in order
    vectors[:, 1:] = (share / 16) ** 0.5 * signs * torch.linspace(1.05, 0.95, 16)
    full = Pool(vectors, ("",) * len(vectors), tuple(map(str, range(len(vectors)))), "invented")
    with pytest.raises(VoicenymError, match=r"none of 5 words .* smaller one"):
        Distinct(Copy(), full, 10.0, 16, 5)(torch.eye(17)[0], key.pseudonym("a"))
