"""Rotations by a trained network and by the pseudonym."""

import pytest
import torch

from voicenym import Key
from voicenym.errors import UnknownSystemError, VoicenymError
from voicenym.identity import identity
from voicenym.identity.householder import Turn
from voicenym.nets.identity.bundled_networks import BUNDLED
from voicenym.nets.identity.householder_checkpoint import Rotation, load, save
from voicenym.nets.identity.householder_network import Householder

SIZE = 24
PINNED = [2.889517, -1.880463, -1.45415]


@pytest.fixture(scope="module")
def model(pool):
    torch.manual_seed(0)
    net = Householder("loh", SIZE, 3, 6)
    net.learn_statistics(pool.vectors)
    return Rotation(net, "invented")


def made(model, **options):
    return identity("householder", model=model, **options)


def cosines(x):
    unit = x / x.norm(dim=1, keepdim=True)
    return unit @ unit.T


def test_the_network_alone_is_the_papers(model, users, key):
    method = made(model, turns="model")
    names = [key.pseudonym(str(i)) for i in range(len(users))]
    found = method.batch(users, names)
    torch.testing.assert_close(found, model.network(users).detach(), atol=1e-4, rtol=1e-4)
    other = [Key(bytes(32)).pseudonym(str(i)) for i in range(len(users))]
    assert torch.equal(found, method.batch(users, other))


def test_a_turn_is_orthogonal_and_uniform():
    """Of uniform orthogonal matrices of size 4, tr^2 is 1 and tr^4 is 3 on average."""
    key, traces, firsts = Key(bytes(32)), [], []
    for i in range(3_000):
        turn = Turn.drawn(key.pseudonym(str(i)), 4)
        matrix = turn(torch.eye(4).double()).mT
        traces.append(matrix.trace())
        firsts.append(matrix[:, 0])
    torch.testing.assert_close(matrix.mT @ matrix, torch.eye(4).double())
    trace = torch.stack(traces)
    # Standard errors: 1/55, sqrt(2)/55, sqrt(96)/55.
    assert float(trace.mean()) == pytest.approx(0.0, abs=0.08)
    assert float(trace.square().mean()) == pytest.approx(1.0, abs=0.11)
    assert float(trace.pow(4).mean()) == pytest.approx(3.0, abs=0.75)
    first = torch.stack(firsts)
    assert first.mean(0).abs().max() < 0.04
    torch.testing.assert_close(first.T.cov() * 4, torch.eye(4).double(), atol=0.1, rtol=0.0)


@pytest.mark.parametrize("turns", ["both", "key"])
def test_one_pseudonym_keeps_what_recordings_have_in_common(model, users, key, turns):
    """Angles between a speaker's recordings, seen from the mean where covariance is I, stay."""
    method = made(model, turns=turns, radius="kept")
    who = key.pseudonym("a")
    found = method.batch(users, [who] * len(users))
    net = model.network
    before = users if turns == "key" else net(users).detach()
    white = [(x - net.mean) @ net.whitening for x in (before, found)]
    torch.testing.assert_close(white[1] @ white[1].T, white[0] @ white[0].T, atol=1e-2, rtol=1e-3)
    drawn = made(model, turns=turns).batch(users, [who] * len(users))
    again = (drawn - net.mean) @ net.whitening
    torch.testing.assert_close(cosines(again), cosines(white[0]), atol=1e-3, rtol=1e-3)
    lengths = again.norm(dim=1)
    torch.testing.assert_close(lengths, lengths[:1].expand(len(users)), rtol=1e-3, atol=0.0)


@pytest.mark.parametrize("turns", ["both", "key"])
def test_two_pseudonyms_have_nothing_in_common(model, users, key, turns):
    """One vector under many pseudonyms is as many people's vectors: mean, covariance, cosines."""
    method = made(model, turns=turns)
    names = [key.pseudonym("a", str(i)) for i in range(1_500)]
    found = method.batch(users[:1].expand(len(names), -1), names)
    net = model.network
    white = (found - net.mean) @ net.whitening
    assert white.mean(0).abs().max() < 0.13
    torch.testing.assert_close(white.T.cov(), torch.eye(SIZE), atol=0.2, rtol=0.0)
    own = (users[0] - net.mean) @ net.whitening
    towards = white @ own / own.norm()
    assert float(towards.mean()) == pytest.approx(0.0, abs=0.1)
    assert float(towards.std()) == pytest.approx(1.0, abs=0.08)
    # The length is no more the speaker's.
    assert float(white.square().sum(1).mean()) == pytest.approx(SIZE, rel=0.03)


def test_voices_are_pinned(model, users):
    """A draw that changes changes people's voices."""
    turn = Turn.drawn(Key(bytes(range(32))).pseudonym("a"), 3)
    found = turn(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    assert [round(v, 6) for v in found.tolist()] == PINNED


def test_a_folder_is_opened_by_its_name(model, users, key, tmp_path):
    save(model, tmp_path)
    who = key.pseudonym("a")
    found = made(str(tmp_path))(users[0], who)
    torch.testing.assert_close(found, made(model)(users[0], who))


def test_the_bundled_statistics_need_no_training(key):
    method = made("ecapa-small", turns="key")
    names = [key.pseudonym(str(i)) for i in range(300)]
    vector = torch.linspace(-5.0, 5.0, 192)
    found = method.batch(vector.expand(300, -1), names)
    net = load(BUNDLED / "ecapa-small").network
    # Pseudo-speakers of one person have the population's mean, and its variance all in all.
    variance = net.colouring.square().sum()
    assert (found.mean(0) - net.mean).square().sum() < 3.0 * variance / 300
    assert found.var(0).sum() == pytest.approx(float(variance), rel=0.1)
    assert torch.equal(found[:1], made("ecapa-small").batch(vector[None], names[:1]))


def test_what_makes_no_sense(model, key):
    with pytest.raises(UnknownSystemError, match="both, key, model"):
        made(model, turns="none")
    with pytest.raises(UnknownSystemError, match="kept or drawn"):
        made(model, radius="lost")
    with pytest.raises(VoicenymError, match="have 24"):
        made(model)(torch.ones(5), key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="train householder"):
        made("no-such-network")(torch.ones(5), key.pseudonym("a"))
    with pytest.raises(VoicenymError, match="zero"):
        made(model)(torch.zeros(SIZE), key.pseudonym("a"))
