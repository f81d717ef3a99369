"""The speaker's own vector, whole or in a part."""

import pytest
import torch

from voicenym.errors import UnknownSystemError
from voicenym.identity.copy import Copy, Half, for_parts
from voicenym.identity.lookup import Lookup


def test_each_part_hears_what_it_should(pool, users, key):
    names = [key.pseudonym(str(i)) for i in range(len(users))]
    full = Lookup(pool)
    pseudo = full.batch(users, names)
    for method, acoustic, vocoder in (
        (Copy(), users, users),
        (full, pseudo, pseudo),
        (Half(full, "acoustic"), pseudo, users),
        (Half(full, "vocoder"), users, pseudo),
    ):
        found = for_parts(method, users, names)
        assert torch.equal(found[0], acoustic)
        assert torch.equal(found[1], vocoder)
    assert torch.equal(Half(full).batch(users, names), pseudo)
    with pytest.raises(UnknownSystemError, match="acoustic, vocoder"):
        Half(full, "neither")
