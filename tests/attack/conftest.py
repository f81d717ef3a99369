"""A scenario that several attackers are tried in."""

from __future__ import annotations

import pytest

from voicenym import Key
from voicenym.attack.scenario import Model, Protection, Scenario


@pytest.fixture
def scenario(corpus):
    """Three speakers of two enrolled recordings and a trial each, protected by mcadams."""
    models = tuple(
        Model(f"m{s}", f"s{s}", tuple(r for r in corpus if r.speaker == f"s{s}")[:2], "f")
        for s in range(3)
    )
    trials = tuple(r for r in corpus if r.name.endswith("u3"))[:3]
    protection = Protection.by("mcadams", Key(bytes(32)))
    return Scenario(models, trials, protection, Key(bytes(range(32))), tuple(corpus))
