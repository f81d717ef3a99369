"""Averaged look-up table, blended with the reserved vector."""

import pytest
import torch

from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity.lookup import Lookup


def test_the_blend_has_the_given_share(pool, users, key):
    who = key.pseudonym("a")
    centre = pool.vectors.mean(0)
    assert torch.allclose(Lookup(pool, weight=1.0)(users[0], who), centre, atol=1e-6)
    single = Lookup(pool, count=1, weight=0.0)(users[0], who)
    assert float((pool.vectors - single).norm(dim=1).min()) < 1e-6  # cdist would round
    half = Lookup(pool, count=1, weight=0.5)(users[0], who)
    assert torch.allclose(half, 0.5 * (single + centre), atol=1e-6)
    everybody = Lookup(pool, count=len(pool), weight=0.0)(users[0], who)
    assert torch.allclose(everybody, centre, atol=1e-6)
    nobody = tuple(float(i) for i in range(24))
    given = Lookup(pool, weight=1.0, nobody=nobody)(users[0], who)
    assert torch.equal(given, torch.tensor(nobody))


def test_sexes_are_given_or_refused(pool, users, key):
    who = key.pseudonym("a")
    woman = Lookup(pool, weight=0.0, sex="opposite")(users[0], who, "m")
    assert pool.sex_of(woman) == "f"
    with pytest.raises(VoicenymError, match="say it"):
        Lookup(pool, sex="same")(users[0], who)
    with pytest.raises(VoicenymError, match="60 such speakers, and 61"):
        Lookup(pool, count=61, sex="same")(users[0], who, "f")
    with pytest.raises(VoicenymError, match="nobody has 2 elements"):
        Lookup(pool, nobody=(1.0, 2.0))(users[0], who)
    for wrong in ({"count": 0}, {"weight": 2.0}, {"sex": "x"}):
        with pytest.raises(UnknownSystemError):
            Lookup(pool, **wrong)
