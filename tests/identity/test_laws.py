"""Laws of all identity methods: rows, orders and keys; invalid vectors."""

from dataclasses import fields

import pytest
import torch

from voicenym import Key
from voicenym.errors import VoicenymError
from voicenym.identity import Identity, identity
from voicenym.identity.pools.affinity_propagation import clustered
from voicenym.identity.pools.vector_mixture import Mixtures
from voicenym.nets.identity.householder_checkpoint import Rotation
from voicenym.nets.identity.householder_network import Householder

ANOTHER = Key(bytes(range(1, 33)))
NAMES = [
    "copy",
    "distinct",
    "formant-pitch",
    "half",
    "householder",
    "indistinguishable",
    "lookup",
    "mixture",
    "regression",
    "selection",
    "singular-values",
]
UNCHANGED = ("copy",)


def rotation(pool) -> Rotation:
    torch.manual_seed(0)
    network = Householder("loh", pool.size, 2, 5)
    network.learn_statistics(pool.vectors)
    return Rotation(network, pool.encoder)


@pytest.fixture(scope="module")
def methods(pool) -> dict[str, Identity]:
    from voicenym.training.identity.train_mixture import MixtureConfig, train

    model: Mixtures = train(pool, MixtureConfig())
    given = {
        "householder": {"model": rotation(pool)},
        "half": {"of": identity("lookup", pool=pool)},
        "indistinguishable": {"pool": pool},
        "lookup": {"pool": pool},
        "mixture": {"model": model},
        "regression": {"pool": pool},
        "selection": {"pool": clustered(pool), "world": 20, "region": 10},
        "singular-values": {"pool": pool},
    }
    given["distinct"] = {
        "of": identity("selection", **given["selection"]),
        "pool": pool,
        "length": 16,
        "angle": 5.0,
    }
    return {name: identity(name, **given.get(name, {})) for name in NAMES}


@pytest.fixture(scope="module")
def speakers(users) -> torch.Tensor:
    return users.abs() + 0.1  # above zero, so that they may stand for frequencies, too


@pytest.mark.parametrize("name", NAMES)
def test_rows_do_not_depend_on_order_or_on_each_other(name, methods, speakers, key):
    method = methods[name]
    names = [key.pseudonym(str(i)) for i in range(len(speakers))]
    together = method.batch(speakers, names)
    assert together.shape == speakers.shape
    assert together.dtype == speakers.dtype
    assert together.isfinite().all()
    assert torch.equal(together, method.batch(speakers.flip(0), names[::-1]).flip(0))
    alone = torch.stack([method(v, n) for v, n in zip(speakers, names, strict=True)])
    assert torch.equal(together, alone)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNCHANGED])
def test_another_key_or_speaker_is_another_voice(name, methods, speakers, key):
    method = methods[name]
    vector = speakers[0].expand(8, -1)
    for one in (key, ANOTHER):
        names = [one.pseudonym(str(i)) for i in range(8)]
        assert len(method.batch(vector, names).unique(dim=0)) > 1
    mine = method.batch(speakers[:8], [key.pseudonym(str(i)) for i in range(8)])
    other = method.batch(speakers[:8], [ANOTHER.pseudonym(str(i)) for i in range(8)])
    assert not torch.equal(mine, other)


def test_a_method_says_whether_the_pseudonym_changes_it(methods, pool, speakers, key):
    model = identity("householder", model=rotation(pool), turns="model")
    all_of_one = identity("lookup", pool=pool, weight=1.0)
    halves = [identity("half", of=one) for one in (model, methods["lookup"])]
    for method in (*methods.values(), identity("blank:strength=0.5"), model, all_of_one, *halves):
        names = [key.pseudonym(str(i)) for i in range(8)]
        found = method.batch(speakers[0].expand(8, -1), names).unique(dim=0)
        assert method.draws == (len(found) > 1), method


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("copy",)])
def test_vectors_of_another_size_or_without_a_voice_are_refused(name, methods, speakers, key):
    method, who = methods[name], key.pseudonym("a")
    size = 1 if name == "formant-pitch" else 23
    with pytest.raises(VoicenymError):
        method(torch.ones(size), who)
    with pytest.raises(VoicenymError, match="holds no speech"):
        method(torch.zeros(24), who)
    with pytest.raises(VoicenymError, match="not finite"):
        method(torch.full((24,), float("nan")), who)


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_hear_does_not_listen(name, methods, speakers, key):
    method, who = methods[name], key.pseudonym("a")
    assert method.source
    if not method.source_dependent:
        assert torch.equal(method(speakers[0], who, "f"), method(speakers[1], who, "f"))
    assert all(field.name in repr(method) for field in fields(method))


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (torch.ones(1, 12, dtype=torch.int32), "need floats, not torch.int32"),
        (torch.ones(1, 12, dtype=torch.complex64), "need floats"),
        (torch.ones(1, 12).numpy(), r"not ndarray; .*torch\.from_numpy"),
        ([[1.0] * 12], "not list"),
        (None, "not NoneType"),
        (torch.ones(1, 1, 12), "do not fit"),
        (torch.ones(2, 12), "do not fit"),
    ],
    ids=["integers", "complex", "numpy", "list", "none", "shape", "number"],
)
def test_what_is_no_vector_is_named(vectors, message):
    """Results would be rounded to integers."""
    with pytest.raises(VoicenymError, match=message):
        identity("copy").batch(vectors, [ANOTHER.pseudonym("a")])


def test_a_sex_and_a_pseudonym_are_checked():
    with pytest.raises(VoicenymError, match=r"f, m or None .* not 'female'"):
        identity("copy")(torch.ones(12), ANOTHER.pseudonym("a"), "female")
    for given in ("anna", ANOTHER, None):
        with pytest.raises(TypeError, match=f"is no {type(given).__name__}"):
            identity("copy")(torch.ones(12), given)
