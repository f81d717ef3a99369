"""Identity methods by name."""

import pytest
import torch

from voicenym import Key
from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import identities, identity

KEY = Key(bytes(range(32)))


def test_a_method_is_made_by_its_name_and_its_repr_rebuilds_it():
    blank = identity("blank", strength=0.25)
    vector = torch.arange(1.0, 5.0)
    assert torch.allclose(blank(vector, KEY.pseudonym("a")), 0.75 * vector)
    assert repr(blank) == "Blank(strength=0.25)"
    assert "blank" in identities()


def test_values_may_be_paths_and_numbers_of_numpy():
    from pathlib import Path

    import numpy as np

    method = identity("selection", pool=Path("a") / "b", world=np.int64(7), region=np.int32(3))
    assert method == identity("selection", pool="a/b", world=7, region=3)
    assert identity("blank", strength=np.float32(0.5)) == identity("blank", strength=0.5)
    with pytest.raises(UnknownSystemError, match="world is a whole number"):
        identity("selection", pool="p", world=True)


def test_what_is_not_known_is_named():
    with pytest.raises(UnknownSystemError, match=r"there are: .*blank"):
        identity("nobody")
    with pytest.raises(UnknownSystemError, match="it has: strength"):
        identity("blank", power=1)
    with pytest.raises(UnknownSystemError, match="selection needs pool"):
        identity("selection")
    with pytest.raises(UnknownSystemError, match="0 to 1"):
        identity("blank", strength=2.0)


@pytest.mark.parametrize("wrong", [torch.zeros(4), torch.tensor([1.0, float("nan"), 0, 0])])
def test_vectors_that_mean_nothing_are_refused(wrong):
    with pytest.raises(VoicenymError, match="leave"):
        identity("blank")(wrong, KEY.pseudonym("a"))
