"""Autoencoder as an identity method, alone and after another method."""

import pytest
import torch

from voicenym.errors import VoicenymError
from voicenym.identity.autoencoder import Autoencoded
from voicenym.identity.lookup import Lookup
from voicenym.nets.identity.vector_autoencoder import Autoencoder, save


@pytest.fixture(scope="module")
def network() -> Autoencoder:
    torch.manual_seed(0)
    return Autoencoder(24, 4, 8).eval()


def test_it_gives_what_the_network_leaves(network, pool, users, key, tmp_path):
    save(network, tmp_path, "invented", "", {})
    names = [key.pseudonym(str(i)) for i in range(len(users))]
    alone, after = Autoencoded(str(tmp_path)), Autoencoded(str(tmp_path), Lookup(pool))
    with torch.inference_mode():
        assert torch.allclose(alone.batch(users, names), network(users), atol=1e-6)
        pseudo = Lookup(pool).batch(users, names)
        assert torch.allclose(after.batch(users, names), network(pseudo), atol=1e-6)
    single = torch.stack([alone(v, n) for v, n in zip(users, names, strict=True)])
    assert torch.equal(alone.batch(users, names), single)
    assert eval(repr(alone)) == alone


def test_what_is_not_there_or_does_not_fit_is_named(network, key, tmp_path):
    with pytest.raises(VoicenymError, match="train one"):
        Autoencoded(str(tmp_path))(torch.ones(24), key.pseudonym("a"))
    save(network, tmp_path, "invented", "", {})
    with pytest.raises(
        VoicenymError, match="has 5 elements, those of the autoencoder, by invented"
    ):
        Autoencoded(str(tmp_path))(torch.ones(5), key.pseudonym("a"))
